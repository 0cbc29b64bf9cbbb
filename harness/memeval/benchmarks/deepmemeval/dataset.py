"""Makes scenarios, which systems see, and answer keys, which they do not, from the released rows."""

import re
from collections.abc import Iterator
from functools import lru_cache

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.deepmemeval.released import (
    FULL,
    DeepMemEvalFile,
    RawBelief,
    RawCascade,
    RawDelta,
    RawNoise,
    RawScenario,
    RawTemporal,
    RawUncertainty,
)
from memeval.benchmarks.errata import shipped_errata
from memeval.keys import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    DeltaKey,
    Fact,
    ItemKey,
    NoiseKey,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.benchmark import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn

_LEAD = re.compile(r"^(?:.*\buses |the |an? )", re.IGNORECASE)


def key_phrase(fact: str) -> str:
    """Return the words that distinguish a fact of this data from others.

    The words between the first word and the first ``for``, if there are any, else the second word: "Uses Drone CI for
    CI/CD pipelines" gives "Drone CI", "Uses Jenkinsfile declarative pipelines" gives "Jenkinsfile". ``fact``: a fact as
    in the data, of at least two words.
    """
    words = fact.split()
    end = words.index("for", 1) if "for" in words[1:] else 0
    return " ".join(words[1:end]) if end > 1 else words[1]


@lru_cache(maxsize=1024)
def fact_of(text: str) -> Fact:
    """Return a fact with its key phrase, and with an alias if the phrase starts with a verb or an article.

    "Team uses Discord for real-time communication" has the key phrase "uses Discord"; the alias "Discord" is also
    correct. The alias of "the ELK stack" is "ELK stack".
    """
    phrase = key_phrase(text)
    return Fact(text=text, phrases=tuple(dict.fromkeys((phrase, _LEAD.sub("", phrase)))))


_ASKED = {"explicit-timestamp": "explicit", "relative-reference": "relative"}
_DEPENDENT = re.compile(r"dependent belief '(.+)' was never explicitly updated")


class DeepMemEvalDataset(Dataset):
    def __init__(self, released: DeepMemEvalFile) -> None:
        self.digest = released.digest
        self.parameters = {}
        self._rows = released.scenarios

    def scenarios(self) -> Iterator[Scenario]:
        return map(_scenario, self._rows)

    def answer_keys(self) -> Iterator[ItemKey]:
        return map(_item_key, self._rows)

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with another correct answer. The released answer becomes one of the wrong ones.

        ``erratum``: a ``wrong_answer``, with the words that identify the correct answer ("Drone CI"). Raises
        ``BadInput``: the entry has no such words, or the answer of the item is not a value.
        """
        if erratum.kind is not ErratumKind.WRONG_ANSWER or not isinstance(erratum.corrected, str):
            raise BadInput(
                f"the erratum of '{key.item_id}' is invalid: only a wrong answer can be replaced, and only by text.",
                remedy="Use the action 'exclude'.",
            )
        words = erratum.corrected
        match key.key:
            case BeliefKey(current=current, stale=stale):
                right, others = _split_facts(words, (current, *stale))
                better: AnswerKey = BeliefKey(current=right, stale=others)
            case TemporalKey(reference=reference, others=rest):
                right, others = _split_facts(words, (reference, *rest))
                better = TemporalKey(reference=right, others=others)
            case NoiseKey():
                better = NoiseKey(reference=Fact(text=words, phrases=(words,)))
            case _:
                return super().corrected(key, erratum)
        return key.model_copy(update={"key": better})


def _split_facts(words: str, facts: tuple[Fact, ...]) -> tuple[Fact, tuple[Fact, ...]]:
    right = next((fact for fact in facts if words in (fact.text, *fact.phrases)), Fact(text=words, phrases=(words,)))
    return right, tuple(fact for fact in facts if fact != right)


def _scenario(raw: RawScenario) -> Scenario:
    sessions = tuple(
        Ingest(
            source_id=session.session_id,
            session=Session(
                session_id=f"s{number:03}",
                date=session.date,
                turns=tuple(
                    Turn(turn_id=f"s{number:03}:t{place:02}", role=turn.role, content=turn.content)
                    for place, turn in enumerate(session.turns, 1)
                ),
            ),
        )
        for number, session in enumerate(raw.conversation_history, 1)
    )
    asked_as_of = raw.metadata.query_timestamp if isinstance(raw, RawTemporal) else None
    asks = tuple(
        Ask(question_id=name, question=text, timestamp=asked_as_of)
        for name, text in zip(_question_ids(raw), _questions(raw), strict=True)
    )
    return Scenario(
        scenario_id=raw.scenario_id, steps=(*sessions, *asks), agent_keeps_context=isinstance(raw, RawDelta)
    )


def _questions(raw: RawScenario) -> tuple[str, ...]:
    """Return the questions. The ``question`` of a delta-efficiency row is only a placeholder."""
    return tuple(turn.question for turn in raw.evaluation_turns) if isinstance(raw, RawDelta) else (raw.question,)


def _question_ids(raw: RawScenario) -> tuple[str, ...]:
    return tuple(f"{raw.scenario_id}:q{number:02}" for number in range(1, len(_questions(raw)) + 1))


def _item_key(raw: RawScenario) -> ItemKey:
    return ItemKey(
        item_id=raw.scenario_id,
        scenario_id=raw.scenario_id,
        question_ids=_question_ids(raw),
        category=raw.scenario_type,
        cluster=raw.persona,
        slices=_slices(raw),
        evidence=_evidence(raw),
        key=_key(raw),
    )


def _key(raw: RawScenario) -> AnswerKey:
    match raw:
        case RawBelief():
            return BeliefKey(
                current=fact_of(raw.expected_answer), stale=tuple(map(fact_of, raw.metadata.stale_answers))
            )
        case RawCascade():
            return CascadeKey(
                root_change=raw.metadata.root_change,
                dependent=fact_of(raw.metadata.old_dependent),
                reference=raw.expected_answer,
            )
        case RawNoise():
            return NoiseKey(reference=fact_of(raw.expected_answer))
        case RawTemporal():
            return TemporalKey(reference=fact_of(raw.expected_answer), others=tuple(map(fact_of, _other_times(raw))))
        case RawDelta():
            established = tuple(map(fact_of, raw.metadata.established_facts_by_turn_5))
            return DeltaKey(facts_by_turn=(established,) * len(raw.evaluation_turns))
        case RawUncertainty():
            found = _DEPENDENT.search(raw.metadata.uncertainty_reason)
            assert found is not None, "all released rows have this form"  # noqa: S101
            return UncertaintyKey(
                reason=raw.metadata.uncertainty_reason, dependent=fact_of(found.group(1)), reference=raw.expected_answer
            )


def _other_times(raw: RawTemporal) -> tuple[str, ...]:
    """Return the values at other times: the current one, and those of the sessions between the first and the last.

    The metadata has only two values of a timeline. In the seven timelines with three values, the middle one is only in
    the middle session, in the first sentence of the user.
    """
    between = (session.turns[0].content.partition(". ")[0] for session in raw.conversation_history[1:-1])
    named = dict.fromkeys((*between, raw.metadata.current_belief))
    return tuple(text for text in named if text != raw.expected_answer)


def _evidence(raw: RawScenario) -> tuple[str, ...] | None:
    """Return the ordinals of the evidence sessions; ``None`` if the data does not name them.

    For a belief, the session of the current value; for noise resistance, the signal sessions.
    """
    match raw:
        case RawBelief():
            named = {link.source_session for link in raw.metadata.belief_timeline if link.valid_until is None}
        case RawNoise():
            named = set(raw.metadata.signal_sessions)
        case _:
            return None
    return tuple(f"s{n:03}" for n, each in enumerate(raw.conversation_history, 1) if each.session_id in named)


def _doubt(scenario_id: str) -> str:
    found = (
        entry.kind.replace("_", "-")
        for entry in shipped_errata(__package__, FULL.digest).entries
        if entry.id == scenario_id
    )
    return next(found, "none")


def _slices(raw: RawScenario) -> dict[str, str]:
    match raw:
        case RawBelief():
            return {"difficulty": raw.metadata.difficulty, "errata": _doubt(raw.scenario_id)}
        case RawNoise():
            return {"noise": raw.metadata.sub_category.rpartition("-")[2]}
        case RawTemporal():
            return {"asked": _ASKED[raw.metadata.difficulty], "errata": _doubt(raw.scenario_id)}
        case RawDelta():
            return {"clone": "yes" if "-var" in raw.scenario_id else "no"}
        case _:
            return {}
