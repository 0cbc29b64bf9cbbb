"""From the released rows to scenarios, which a system may see, and keys, which it may not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.deepmemeval.phrases import fact_of
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
from memeval.benchmarks.errata import read_errata
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
from memeval.records.errata import Errata, Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn

_ASKED = {"explicit-timestamp": "explicit", "relative-reference": "relative"}
_DEPENDENT = re.compile(r"dependent belief '(.+)' was never explicitly updated")


@cache
def shipped_errata() -> Errata:
    """Return the scenarios whose released answer is in doubt. They count as released, and a second time without it."""
    with resources.as_file(resources.files(__package__) / "errata.json") as path:
        return read_errata(path, FULL.digest)


class DeepMemEvalDataset(Dataset):
    """The released scenarios and keys, in the file's order."""

    def __init__(self, released: DeepMemEvalFile) -> None:
        self.digest = released.digest
        self.parameters = {}
        self._rows = released.scenarios

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios: sessions in list order with their given dates, then the questions."""
        return map(_scenario, self._rows)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys."""
        return map(_item_key, self._rows)

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with another right answer; what was right so far is then one of the wrong ones.

        Args:
            key: the key as released.
            erratum: a ``wrong_answer``, with the words by which the right one can be told ("Drone CI").

        Raises:
            BadInput: the entry has no such words, or the item is not one with a value for an answer.
        """
        if erratum.kind is not ErratumKind.WRONG_ANSWER or not isinstance(erratum.corrected, str):
            raise BadInput(
                f"the erratum of '{key.item_id}' cannot be used: only a wrong answer can be replaced, by a text.",
                remedy="Use the action 'exclude'.",
            )
        words = erratum.corrected
        match key.key:
            case BeliefKey(current=current, stale=stale):
                right, others = _told_apart(words, (current, *stale))
                better: AnswerKey = BeliefKey(current=right, stale=others)
            case TemporalKey(reference=reference, others=rest):
                right, others = _told_apart(words, (reference, *rest))
                better = TemporalKey(reference=right, others=others)
            case NoiseKey():
                better = NoiseKey(reference=Fact(text=words, phrases=(words,)))
            case _:
                return super().corrected(key, erratum)
        return key.model_copy(update={"key": better})


def _told_apart(words: str, facts: tuple[Fact, ...]) -> tuple[Fact, tuple[Fact, ...]]:
    """Return the fact that is told by the words, and the other facts."""
    right = next((fact for fact in facts if words in (fact.text, *fact.phrases)), Fact(text=words, phrases=(words,)))
    return right, tuple(fact for fact in facts if fact != right)


def _scenario(raw: RawScenario) -> Scenario:
    sessions = tuple(
        Ingest(
            source_id=given.session_id,
            session=Session(
                session_id=f"s{number:03}",
                date=given.date,
                turns=tuple(
                    Turn(turn_id=f"s{number:03}:t{place:02}", role=turn.role, content=turn.content)
                    for place, turn in enumerate(given.turns, 1)
                ),
            ),
        )
        for number, given in enumerate(raw.conversation_history, 1)
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
    """Return what is asked; the ``question`` of a delta-efficiency row is a placeholder that nobody is asked."""
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
            return DeltaKey(facts_by_turn=_facts_by_turn(raw))
        case RawUncertainty():
            found = _DEPENDENT.search(raw.metadata.uncertainty_reason)
            assert found is not None, "the reader has checked the pattern"  # noqa: S101
            return UncertaintyKey(
                reason=raw.metadata.uncertainty_reason,
                dependent=fact_of(found.group(1)),
                reference=raw.expected_answer,
            )


def _other_times(raw: RawTemporal) -> tuple[str, ...]:
    """Return what held at other times: today's value, and what the sessions between the first and the last state.

    The metadata name only two links of a chain. In the seven chains of three, the middle one stands in the middle
    session alone, at the start of what the user says, before the reason.
    """
    between = (session.turns[0].content.partition(". ")[0] for session in raw.conversation_history[1:-1])
    named = dict.fromkeys((*between, raw.metadata.current_belief))
    return tuple(text for text in named if text != raw.expected_answer)


def _facts_by_turn(raw: RawDelta) -> tuple[tuple[Fact, ...], ...]:
    """Return the facts each answer should hold: the established ones, and later ones from the turn they are told."""
    established = tuple(map(fact_of, raw.metadata.established_facts_by_turn_5))
    late = [(new.turn, fact_of(new.fact)) for new in raw.metadata.new_facts_after_turn_5]
    return tuple(
        (*established, *(fact for since, fact in late if since <= asked.turn)) for asked in raw.evaluation_turns
    )


def _evidence(raw: RawScenario) -> tuple[str, ...] | None:
    """Return the ordinals of the sessions the answer rests on, where the data name them.

    For a belief that is the session of the link that holds now; for a fact in noise, the signal.
    """
    match raw:
        case RawBelief():
            named = {link.source_session for link in raw.metadata.belief_timeline if link.valid_until is None}
        case RawNoise():
            named = set(raw.metadata.signal_sessions)
        case _:
            return None
    return tuple(f"s{n:03}" for n, given in enumerate(raw.conversation_history, 1) if given.session_id in named)


def _doubt(scenario_id: str) -> str:
    """Return what is wrong with a released answer, or ``none``."""
    found = (entry.kind.replace("_", "-") for entry in shipped_errata().entries if entry.id == scenario_id)
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
