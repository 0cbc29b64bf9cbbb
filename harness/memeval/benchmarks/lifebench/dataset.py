"""Makes scenarios, which systems see, and answer keys, which they do not, from the files of users."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.lifebench.keys import LifeBenchKey
from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, Reference, read_questions
from memeval.benchmarks.lifebench.released import UserFiles, released_users
from memeval.benchmarks.lifebench.texts import turn_count, turns_of
from memeval.keys import ItemKey
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario

CONTACTS = "contact"
"""The record list without dates. It comes first, on the first day."""

_TIMES = {"agent_chat": "date", "fitness_health": "日期"}

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?")


class LocatedRecord(NamedTuple):
    ordinal: str
    """Ordinal of the record: ``s004:t03``."""
    turns: tuple[str, ...]
    """Ordinals of its turns: the same one, or ``s004:t03.1`` and so on for several."""
    month: str


class _Record(NamedTuple):
    time: str
    source: str
    fields: Mapping[str, Any]


class History:
    """The records of a user in order of time; sessions and records have ordinals in order of ingestion.

    Raises ``BadInput``: a file is invalid, or a record has no time.
    """

    def __init__(self, files: UserFiles) -> None:
        self.user = files.user
        self.person = released_users()[files.user].name
        lists = released_users()[files.user].record_lists()
        contacts = [_Record("", CONTACTS, fields) for fields in files.rows(lists[CONTACTS])]
        dated = chain.from_iterable(_dated(files, source, path) for source, path in lists.items() if source != CONTACTS)
        days: defaultdict[str, list[_Record]] = defaultdict(list)
        for record in sorted(dated, key=lambda each: each.time):
            days[record.time[:10]].append(record)
        if not days:
            raise BadInput("the user has no records.", where=files.folder, remedy="Restore the released files.")
        self.days = tuple(days)
        """The days with records, in order; the session of the first is ``s001``."""
        self._records: Sequence[list[_Record]] = list(days.values())
        self._records[0][:0] = contacts

    def sessions_until(self, month: str) -> int:
        return bisect_right(self.days, f"{month}-99")

    def located(self) -> dict[Reference, list[LocatedRecord]]:
        """Return the positions of all records by list and id. A few ids are doubled."""
        found: defaultdict[Reference, list[LocatedRecord]] = defaultdict(list)
        for number, day in enumerate(self.days):
            for record, ordinal, turns in self._ordered(number):
                reference = record.source, str(record.fields.get("phone_id"))
                found[reference].append(LocatedRecord(ordinal, turns, day[:7]))
        return found

    def scenario(self, questions: Iterable[LifeBenchQuestion], *, choice: bool) -> Scenario:
        """Return the scenario: sessions by day, and after the last day of each month its questions."""
        by_month: defaultdict[str, list[LifeBenchQuestion]] = defaultdict(list)
        for question in questions:
            by_month[question.month].append(question)
        steps: list[object] = []
        done = 0
        for month in sorted(by_month):
            steps += map(self._ingest, range(done, self.sessions_until(month)))
            done = self.sessions_until(month)
            steps += (
                Ask(
                    question_id=each.question_id,
                    question=each.with_options() if choice else each.text,
                    timestamp=each.asked_at,
                )
                for each in by_month[month]
            )
        steps += map(self._ingest, range(done, len(self.days)))
        return Scenario.model_validate({"scenario_id": self.user, "steps": tuple(steps)})

    def _ingest(self, number: int) -> dict[str, object]:
        """Return the step of a day, by its index, as plain data: validating it once is faster than building records."""
        turns = tuple(
            {"turn_id": name, **text._asdict()}
            for record, _, names in self._ordered(number)
            for name, text in zip(names, turns_of(record.source, record.fields, self.person), strict=True)
        )
        session = {"session_id": ordinal_of(number), "date": self.days[number], "turns": turns}
        return {"step": "take_in", "session": session, "source_id": self.days[number]}

    def _ordered(self, number: int) -> Iterator[tuple[_Record, str, tuple[str, ...]]]:
        """Yield the records of a day that have turns, each with its ordinal and those of its turns."""
        place = 0
        for record in self._records[number]:
            turns = turn_count(record.source, record.fields)
            place += turns > 0
            ordinal = f"{ordinal_of(number)}:t{place:02}"
            if turns == 1:
                yield record, ordinal, (ordinal,)
            elif turns:
                yield record, ordinal, tuple(f"{ordinal}.{part}" for part in range(1, turns + 1))


def ordinal_of(number: int) -> str:
    return f"s{number + 1:03}"


def record_of(turn_id: str) -> str:
    return turn_id.partition(".")[0]


def _dated(files: UserFiles, source: str, path: str) -> Iterator[_Record]:
    field = _TIMES.get(source, "datetime")
    for number, fields in enumerate(files.rows(path), 1):
        time = fields.get(field)
        if not isinstance(time, str) or not _TIME.fullmatch(time):
            raise BadInput(
                f"entry {number}: '{field}' is not a time such as '2025-03-09 18:00:00'.",
                where=files.folder / path,
                remedy="Restore the released file.",
            )
        yield _Record(time, source, fields)


class LifeBenchDataset(LoadedDataset):
    """Users, each a scenario with all its questions. A history has up to 2.8 million tokens.

    ``choice``: whether questions show their options.
    """

    def __init__(self, users: Sequence[UserFiles], *, choice: bool = False) -> None:
        self._users = {each.user: each for each in users}
        self._choice = choice
        self.digest = digest_of({f"{each.user}/{path}": name for each in users for path, name in each.digests.items()})
        self.parameters = {}
        self.released = all(each.released for each in users)

    @property
    def names(self) -> Mapping[str, UserFiles]:
        return self._users

    def load(self, scenario_id: str) -> Scenario:
        files = self._users[scenario_id]
        return History(files).scenario(read_questions(files), choice=self._choice)

    def keys_of(self, scenario_id: str) -> Iterator[ItemKey]:
        return _keys_of(self._users[scenario_id])


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

    Leaves out references that name no record, and records after the month of the question. ``located``: the positions
    of all records, by list and id.
    """
    groups = (
        tuple(record for record in located.get(reference, ()) if record.month <= question.month)
        for reference in question.evidence
    )
    return [group for group in groups if group]
