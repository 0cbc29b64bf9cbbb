"""Makes scenarios, which systems see, and answer keys, which they do not, from the files of chats."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.beam.keys import BeamKey
from memeval.benchmarks.beam.released import BeamQuestion, BeamSession, ChatFiles, digest_of_chats, released
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario


class Conversation:
    """A chat; sessions and messages have ordinals in order of ingestion."""

    def __init__(self, files: ChatFiles) -> None:
        self.name = files.name
        self._sessions = files.sessions()
        self._turns: dict[int, str] = {}
        self.ordinals: dict[str, str] = {}
        """Ordinals of sessions (``batch 1``) and messages (``17``), by their names in the source."""
        for ordinal, session in self._numbered():
            self.ordinals[session.name] = ordinal
            self._turns |= {each.message_id: f"{ordinal}:t{n:02}" for n, each in enumerate(session.messages, 1)}
        self.ordinals |= {str(message): turn for message, turn in self._turns.items()}

    def scenario(self, questions: Sequence[BeamQuestion]) -> Scenario:
        """Return the scenario: all sessions, then all questions, at the time of the last session."""
        steps: list[object] = [self._ingest(ordinal, session) for ordinal, session in self._numbered()]
        last = self._sessions[-1].date
        steps += (Ask(question_id=item_id(self.name, q), question=q.question, timestamp=last) for q in questions)
        return Scenario.model_validate({"scenario_id": self.name, "steps": tuple(steps)})

    def located(self, message_ids: Sequence[int], item: str) -> tuple[str, ...]:
        """Return the ordinals of messages. Raises ``BadInput``: the chat has no message with such an id."""
        unknown = next((each for each in message_ids if each not in self._turns), None)
        if unknown is not None:
            problem = f"the evidence of {item} names message {unknown}, and the chat has {len(self._turns):,} messages."
            raise BadInput(problem, remedy="Restore the released files of this chat.")
        return tuple(self._turns[each] for each in message_ids)

    def _numbered(self) -> Iterator[tuple[str, BeamSession]]:
        return ((f"s{number:03}", session) for number, session in enumerate(self._sessions, 1))

    def _ingest(self, ordinal: str, session: BeamSession) -> dict[str, object]:
        """Return a step as plain data: validating it once is faster than building records."""
        turns = tuple(
            {"turn_id": self._turns[each.message_id], "role": each.role, "content": each.content}
            for each in session.messages
        )
        record = {"session_id": ordinal, "date": session.date, "turns": turns}
        return {"step": "take_in", "session": record, "source_id": session.name}


def item_id(chat: str, question: BeamQuestion) -> str:
    return f"{chat}:{question.ability}:{question.number}"


class BeamDataset(LoadedDataset):
    """The chats of one size, each a scenario with all its questions. A history has up to ten million tokens."""

    def __init__(self, size: str, chats: Sequence[ChatFiles]) -> None:
        self._chats = {each.name: each for each in chats}
        self.digest = digest_of_chats({each.name: each.objects for each in chats})
        self.parameters = {}
        self.released = released(size, chats)
        self._opened = lru_cache(maxsize=self.kept)(lambda name: Conversation(self._chats[name]))

    @property
    def names(self) -> Mapping[str, ChatFiles]:
        return self._chats

    def load(self, scenario_id: str) -> Scenario:
        return self._opened(scenario_id).scenario(self._chats[scenario_id].asked())

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return the ordinals of a chat's sessions (``batch 1``) and messages (``17``).

        Raises ``KeyError``: there is no chat of that name.
        """
        return self._opened(scenario_id).ordinals

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with the correction of an erratum applied.

        ``erratum``: ``wrong_answer`` with the correct rubric, a text per sentence, or with the correct order of all its
        sentences, by their places from 1; or ``wrong_evidence`` with the ids of messages. Raises ``BadInput``: the
        entry has no correction in one of these forms.
        """
        given = (erratum.corrected,) if isinstance(erratum.corrected, str) else erratum.corrected or ()
        own = key.key_as(BeamKey, "BEAM")
        if erratum.kind is ErratumKind.WRONG_ANSWER and given and all(text.strip() for text in given):
            rubric = _reordered(own.rubric, given)
            better = own.model_copy(update={"reference": "; ".join(rubric), "rubric": rubric})
            return key.model_copy(update={"key": better})
        if erratum.kind is ErratumKind.WRONG_EVIDENCE and given and all(text.isdecimal() for text in given):
            turns = self._opened(key.scenario_id).located([int(text) for text in given], key.item_id)
            better = own.model_copy(update={"evidence_turns": turns})
            return key.model_copy(update={"key": better, "evidence": _sessions_of(turns)})
        raise BadInput(
            f"the erratum of {erratum.id} has neither a correct rubric nor ids of messages.",
            remedy="Fix the entry, or use the action 'exclude'.",
        )

    def keys_of(self, scenario_id: str) -> Iterator[ItemKey]:
        conversation = self._opened(scenario_id)
        for question in self._chats[scenario_id].asked():
            item = item_id(scenario_id, question)
            turns = conversation.located(question.evidence, item)
            yield ItemKey(
                item_id=item,
                scenario_id=scenario_id,
                question_ids=(item,),
                category=question.ability.value,
                cluster=scenario_id,
                slices={
                    "difficulty": question.difficulty or "not named",
                    "evidence": "none" if not turns else "one message" if len(turns) == 1 else "several messages",
                },
                evidence=_sessions_of(turns),
                key=BeamKey(
                    ability=question.ability,
                    reference=question.reference,
                    rubric=question.rubric,
                    evidence_turns=turns,
                ),
            )


def _reordered(rubric: Sequence[str], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return a rubric in the order of the given places, if these are places; else what is given."""
    places = {str(place): sentence for place, sentence in enumerate(rubric, 1)}
    return tuple(places[place] for place in given) if places.keys() == set(given) else given


def _sessions_of(turns: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(sorted({turn.partition(":")[0] for turn in turns})) or None
