"""Makes scenarios, which systems see, and answer keys, which they do not, from the files of users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.lifebench.history import History, LocatedRecord
from memeval.benchmarks.lifebench.keys import LifeBenchKey
from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, Reference, read_questions
from memeval.benchmarks.lifebench.released import UserFiles
from memeval.keys import ItemKey
from memeval.records.base import digest_of
from memeval.records.scenario import Scenario

KEPT_OPEN = 2
"""Number of cached scenarios. Few, because a history has up to 2.8 million tokens."""


class LifeBenchDataset(Dataset):
    """Users, each a scenario with all its questions, loaded on demand. At most a few histories are in memory.

    Args:
        choice: whether questions show their options.
    """

    def __init__(self, users: Sequence[UserFiles], *, choice: bool = False) -> None:
        self._users = {each.user: each for each in users}
        self._choice = choice
        self.digest = digest_of({f"{each.user}/{path}": name for each in users for path, name in each.digests.items()})
        self.parameters = {}
        self.released = all(each.released for each in users)
        self._cached = lru_cache(maxsize=KEPT_OPEN)(self._open)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios by user, loaded one at a time."""
        return map(self.scenario, self._users)

    def answer_keys(self) -> Iterator[ItemKey]:
        """Yield the keys by user, in the order of the files."""
        return (key for keys in self._keys.values() for key in keys)

    def scenario(self, scenario_id: str) -> Scenario:
        return self._cached(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        """Yield the scenario ids, which are the names of the users' folders."""
        return iter(self._users)

    @cached_property
    def _keys(self) -> dict[str, tuple[ItemKey, ...]]:
        return {name: tuple(_keys_of(files)) for name, files in self._users.items()}

    def _open(self, user: str) -> Scenario:
        files = self._users[user]
        return History(files).scenario(read_questions(files), choice=self._choice)


def _keys_of(files: UserFiles) -> Iterator[ItemKey]:
    history = History(files)
    located = history.located()
    for question in read_questions(files):
        groups = timely(question, located)
        sessions = dict.fromkeys(record.ordinal.partition(":")[0] for group in groups for record in group)
        yield ItemKey(
            item_id=question.question_id,
            scenario_id=files.user,
            question_ids=(question.question_id,),
            category=question.question_type.value,
            cluster=files.user,
            slices={"form": "options" if question.options else "open"},
            evidence=tuple(sorted(sessions)) or None,
            key=LifeBenchKey(
                question_type=question.question_type,
                answer=question.answer,
                options=question.options,
                rubric=question.rubric,
                records=tuple(tuple(record.ordinal for record in group) for group in groups),
                record_turns=tuple(dict.fromkeys(turn for group in groups for each in group for turn in each.turns)),
                sessions_before=history.sessions_until(question.month),
            ),
        )


def timely(
    question: LifeBenchQuestion, located: dict[Reference, list[LocatedRecord]]
) -> list[tuple[LocatedRecord, ...]]:
    """Return the records that a system can know at the time of a question, per reference of its evidence.

    Leaves out references that name no record, and records after the month of the question.

    Args:
        located: the positions of all records, by list and id.
    """
    groups = (
        tuple(record for record in located.get(reference, ()) if record.month <= question.month)
        for reference in question.evidence
    )
    return [group for group in groups if group]
