"""Makes scenarios, which systems see, and answer keys, which they do not, from the released conversations."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey, options_of, with_options
from memeval.benchmarks.locomo.released import LocomoFile, LocomoQuestion, RawConversation
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn

_PHOTO = "{0.text} [shares a photo: {0.blip_caption}]"


@dataclass(frozen=True)
class LocatedEvidence:
    """Positions of the evidence of a question, without ids that name no turn of the conversation."""

    turns: tuple[str, ...]
    sessions: tuple[str, ...]
    dates: tuple[str, ...]
    photo: bool
    """Whether one of the turns has a photo caption."""


class Conversation:
    """A released conversation; sessions and turns have ordinals in order of ingestion."""

    def __init__(self, raw: RawConversation) -> None:
        self.raw = raw
        self.sessions = {f"S{session.number}": f"s{place:03}" for place, session in enumerate(raw.sessions, 1)}
        """Ordinals of the sessions, by the names that common evaluation code uses (``S1``)."""
        self.turns: dict[str, str] = {}
        self._dates: dict[str, str] = {}
        self._photos: set[str] = set()
        for session, ordinal in zip(raw.sessions, self.sessions.values(), strict=True):
            self._dates[ordinal] = session.date
            for place, turn in enumerate(session.turns, 1):
                self.turns[turn.dia_id] = f"{ordinal}:t{place:02}"
                if turn.blip_caption:
                    self._photos.add(turn.dia_id)

    def steps(self) -> Iterator[Ingest]:
        for session, (name, ordinal) in zip(self.raw.sessions, self.sessions.items(), strict=True):
            turns = tuple(
                Turn(
                    turn_id=self.turns[turn.dia_id],
                    role="user",
                    speaker=turn.speaker,
                    content=_PHOTO.format(turn) if turn.blip_caption else turn.text,
                )
                for turn in session.turns
            )
            yield Ingest(source_id=name, session=Session(session_id=ordinal, date=session.date, turns=turns))

    def locate(self, evidence: Iterable[str]) -> LocatedEvidence:
        """Return the positions of evidence. ``evidence``: turn ids of the file; invalid ids are ignored."""
        named = [name for name in dict.fromkeys(evidence) if name in self.turns]
        turns = tuple(self.turns[name] for name in named)
        sessions = tuple(sorted({turn.partition(":")[0] for turn in turns}))
        return LocatedEvidence(
            turns=turns,
            sessions=sessions,
            dates=tuple(self._dates[session] for session in sessions),
            photo=not self._photos.isdisjoint(named),
        )


NAME = "LoCoMo"

NUMBERED = {str(number): category for number, category in enumerate(LocomoCategory, 1)}
"""Categories by their numbers in the file. Some publications use the names in another order, which is wrong."""

_SPREAD = ("none", "one-session", "several-sessions")


class LocomoDataset(LoadedDataset):
    """The released conversations in the order of the file, each a scenario with all its questions.

    ``choice``: whether to offer two options in adversarial questions.
    """

    kept = 10

    def __init__(self, released: LocomoFile, *, choice: bool = False) -> None:
        self.digest = released.digest
        self.parameters = {"adversarial": "choice"} if choice else {}
        self._choice = choice
        self._conversations = {each.sample_id: Conversation(each) for each in released.conversations}

    @property
    def names(self) -> Mapping[str, Conversation]:
        return self._conversations

    def load(self, scenario_id: str) -> Scenario:
        conversation = self._conversations[scenario_id]
        asks = (
            Ask(question_id=key.item_id, question=with_options(raw.question, key.key_as(LocomoKey, NAME).options))
            for key, raw in zip(self.kept_keys[scenario_id], conversation.raw.questions, strict=True)
        )
        return Scenario(scenario_id=scenario_id, steps=(*conversation.steps(), *asks))

    def keys_of(self, scenario_id: str) -> Iterator[ItemKey]:
        conversation = self._conversations[scenario_id]
        return (self._item(conversation, place, raw) for place, raw in enumerate(conversation.raw.questions))

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return the ordinals of a conversation's sessions (``S1`` or ``session_1``) and turns (``D1:3``).

        Raises ``KeyError``: there is no conversation of that id.
        """
        conversation = self._conversations[scenario_id]
        in_file = {f"session_{name.removeprefix('S')}": ordinal for name, ordinal in conversation.sessions.items()}
        return in_file | conversation.sessions | conversation.turns  # the last names win if the mapping is inverted

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with the correction of an erratum applied.

        The item stays in its published category. The dates that a judge of times sees also stay as published, because
        corrected evidence does not change the answer. ``erratum``: ``wrong_answer`` with the correct answer,
        ``wrong_evidence`` with turn ids (``D1:3``), or ``wrong_category`` with the name or the number of the correct
        category. Raises ``BadInput``: the entry has no correction in one of these forms.
        """
        match erratum.kind:
            case ErratumKind.WRONG_ANSWER:
                return _with_rule(
                    key, key.key_as(LocomoKey, NAME).model_copy(update={"answer": _text(erratum)}), erratum
                )
            case ErratumKind.WRONG_CATEGORY:
                return _with_rule(
                    key, key.key_as(LocomoKey, NAME).model_copy(update={"category": _category(erratum)}), erratum
                )
            case ErratumKind.WRONG_EVIDENCE:
                return self._evidenced(key, erratum)
            case ErratumKind.AMBIGUOUS:
                raise _unusable(erratum, "says that the item is ambiguous, which another answer cannot fix")

    def _evidenced(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        conversation = self._conversations[key.scenario_id]
        evidence = (erratum.corrected,) if isinstance(erratum.corrected, str) else erratum.corrected or ()
        unknown = next((name for name in evidence if name not in conversation.turns), None)
        if not evidence:
            raise _unusable(erratum, "names no evidence")
        if unknown is not None:
            raise _unusable(erratum, f"names {unknown[:64]!r}, which is not a turn of {key.scenario_id} such as 'D1:3'")
        found = conversation.locate(evidence)
        better = key.key_as(LocomoKey, NAME).model_copy(update={"evidence": evidence, "evidence_turns": found.turns})
        return key.model_copy(update={"key": better, "evidence": found.sessions or None})

    def _item(self, conversation: Conversation, place: int, raw: LocomoQuestion) -> ItemKey:
        name = conversation.raw.sample_id
        question_id = f"{name}:{place}"
        category = NUMBERED[str(raw.category)]
        found = conversation.locate(raw.evidence)
        # If the file has an answer to an adversarial question, the code of LoCoMo uses it as the wrong option.
        trap = raw.answer or raw.adversarial_answer
        offers = self._choice and category is LocomoCategory.ADVERSARIAL
        return ItemKey(
            item_id=question_id,
            scenario_id=name,
            question_ids=(question_id,),
            category=category.value,
            cluster=name,
            slices={"evidence": _SPREAD[min(len(found.sessions), 2)], "photo": "yes" if found.photo else "no"},
            evidence=found.sessions or None,
            key=LocomoKey(
                category=category,
                answer=raw.answer,
                trap=raw.adversarial_answer,
                evidence=raw.evidence,
                evidence_turns=found.turns,
                dates=found.dates,
                options=options_of(question_id, trap) if offers and trap else (),
            ),
        )


def _with_rule(key: ItemKey, better: LocomoKey, erratum: Erratum) -> ItemKey:
    """Return a key with another answer or category, if the rule of its category applies to it."""
    adversarial = better.category is LocomoCategory.ADVERSARIAL
    if adversarial and erratum.kind is ErratumKind.WRONG_ANSWER:
        raise _unusable(
            erratum, "gives an answer to an adversarial question, whose correct answer is that it was not mentioned"
        )
    if not adversarial and better.answer is None:
        raise _unusable(erratum, f"moves the question to {better.category.value}, but the data has no answer to it")
    return key.model_copy(update={"key": better})


def _text(erratum: Erratum) -> str:
    if not isinstance(erratum.corrected, str) or not erratum.corrected.strip():
        raise _unusable(erratum, "has no single correct answer as text")
    return erratum.corrected


def _category(erratum: Erratum) -> LocomoCategory:
    named = _text(erratum)
    categories = NUMBERED | {category.value: category for category in LocomoCategory}
    if named not in categories:
        raise _unusable(erratum, f"names the unknown category {named[:64]!r} (known: {', '.join(LocomoCategory)})")
    return categories[named]


def _unusable(erratum: Erratum, problem: str) -> BadInput:
    return BadInput(f"the erratum of {erratum.id} {problem}.", remedy="Fix the entry, or use the action 'exclude'.")
