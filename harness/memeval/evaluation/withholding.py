"""Keeping other people's words out of what is stored: the rows of a run with all that stands in its data quoted.

Every row is quoted from the scenario it belongs to. What names none, such as a line that a system printed, is looked up
in all scenarios of the run. What a judge was asked is left out, but for the model: it follows from the data and the
responses, and its key tells whether it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import unquote

from memeval.evaluation.grades import cases_of
from memeval.evaluation.judges import ChosenJudge, judge_of
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.quoting.literals import is_json
from memeval.evaluation.quoting.marks import as_text, left, plain, quoted
from memeval.evaluation.quoting.quoter import Quoter, no_such_mark
from memeval.evaluation.quoting.rows import (
    Change,
    call_with,
    context_with,
    grade_with,
    line_with,
    response_with,
    traffic_with,
)
from memeval.evaluation.rows import Rows
from memeval.judging.base import Case
from memeval.judging.verdict import parse_strict
from memeval.keys import ItemKey
from memeval.records.audit import Probe
from memeval.records.base import Digest, Stored, digest_bytes
from memeval.records.call import Call, Caller, ModelRequest
from memeval.records.errors import BadInput
from memeval.records.log import LogLine
from memeval.records.prompt import Prompt
from memeval.records.response import Response
from memeval.records.track import Redistribution, Track

T = TypeVar("T", bound=Stored)

OPEN_AT_ONCE = 16
"""Scenarios that are held while rows in any order are read."""


class ScenarioQuoters:
    """The quoters of a benchmark's scenarios, each made when it is asked for.

    Args:
        benchmark_session: the benchmark with its data open.
    """

    def __init__(self, benchmark_session: BenchmarkSession) -> None:
        self._benchmark_session = benchmark_session
        self._keys: dict[str, list[ItemKey]] = {}
        for key in benchmark_session.dataset.keys():  # noqa: SIM118 - no dictionary
            self._keys.setdefault(key.scenario_id, []).append(key)
        self.scenario_of = {key.item_id: key.scenario_id for keys in self._keys.values() for key in keys}
        """The scenario of every item."""
        self._held = lru_cache(maxsize=OPEN_AT_ONCE)(self._made)

    def of(self, scenario_id: str) -> Quoter:
        """Return the quoter of a scenario.

        Raises:
            BadInput: the data has no such scenario.
        """
        return self._held(scenario_id)

    def spell(self, mark: str) -> str:
        """Return the words of a mark that names its scenario.

        Raises:
            BadInput: it stands for nothing.
        """
        scenario, _, rest = mark.partition(" ")
        if not scenario.startswith("@"):
            raise no_such_mark(mark, "no scenario")
        return self.of(unquote(scenario[1:])).spell(rest)

    def _made(self, scenario_id: str) -> Quoter:
        try:
            scenario = self._benchmark_session.scenarios[scenario_id]
        except KeyError:
            raise BadInput(
                f"the data has no scenario {scenario_id!a}.", remedy="Restore the file, or record a new run."
            ) from None
        return Quoter(scenario, self._keys.get(scenario_id, ()))


Asked = Mapping[Digest, tuple[str, ModelRequest]]
"""What a judge is asked, by key: the scenario it is about, and the request."""


def asked_of(judge: ChosenJudge, cases: Iterable[Case]) -> Asked:
    """Return all that a judge may be asked about some answers; nothing where it is the rule set."""
    model = judge.model
    if model is None:
        return {}
    return {
        request.key: (case.scenario.scenario_id, request)
        for case in cases
        for request in (model.request(case), model.reminder(case))
    }


def asked_in_run(
    benchmark_session: BenchmarkSession, track: Track, prompts: Iterable[Prompt], responses: Sequence[Response]
) -> Asked:
    """Return all that the judge of a run may have been asked.

    Args:
        benchmark_session: the benchmark with its data.
        track: the run's track.
        prompts: the run's prompts.
        responses: the run's responses, with all words.

    Raises:
        BadInput: this memeval has no such judge.
    """
    judge = judge_of(track, prompts)
    if judge.model is None:
        return {}
    answered = {row.item_id for row in responses}
    return asked_of(
        judge,
        cases_of(benchmark_session, [key for key in benchmark_session.keys if key.item_id in answered], responses),
    )


def read_in(responses: Iterable[Response]) -> dict[Digest, str]:
    """Return the scenario of every call in which a model reader answered, by its key."""
    return {row.reader_key: row.scenario_id for row in responses if row.reader_key is not None}


def scenario_of_call(call: Call, read: Mapping[Digest, str]) -> str | None:
    """Return the scenario that a reader's or a system's call is about; ``None`` where none is known."""
    return read.get(call.key) if call.caller is Caller.READER else call.scenario_id or None


def says(reply: str | None, verdict: bool | None, redistribution: Redistribution) -> bool:
    """Return whether a judge's reply gives a verdict, as far as it can be read.

    Args:
        reply: its text; ``None`` where there is none.
        verdict: the verdict.
        redistribution: whether its words are all there; where some are kept out, only the data tell.
    """
    is_quoted = redistribution is Redistribution.IDS and "⟦" in (reply or "")
    return is_quoted or parse_strict(reply or "") is verdict


def withheld(
    rows: Rows, log: Sequence[LogLine], benchmark_session: BenchmarkSession, track: Track
) -> tuple[Rows, list[LogLine]]:
    """Return the rows of a run and its log without the benchmark's words.

    Args:
        rows: the rows.
        log: the log.
        benchmark_session: the benchmark with its data.
        track: the run's track.
    """
    sheets = _RowsByScenario(benchmark_session)
    asked = asked_in_run(benchmark_session, track, rows.prompts, rows.responses)
    read = read_in(rows.responses)
    of_item = sheets.quoters.scenario_of
    done = replace(
        rows,
        responses=sheets.add(rows.responses, response_with, lambda row: row.scenario_id, lambda row: row.item_id),
        contexts=sheets.add(rows.contexts, context_with, lambda row: row.scenario_id),
        grades=sheets.add(rows.grades, grade_with, lambda row: of_item.get(row.item_id), lambda row: row.item_id),
        judgments=sheets.add_judgments(rows.judgments, asked),
        calls=sheets.add(rows.calls, call_with, lambda row: scenario_of_call(row, read)),
        traffic=sheets.add(rows.traffic, traffic_with, lambda row: row.scenario_id or None),
    )
    lines = sheets.add(log, line_with, lambda row: row.scenario_id or None)
    sheets.fill()
    return done, lines


def withheld_audit(
    probes: Sequence[Probe], judgments: Sequence[Call], benchmark_session: BenchmarkSession, asked: Asked
) -> tuple[list[Probe], list[Call]]:
    """Return the rows of an audit without the benchmark's words.

    Calibration answers are made of the keys of several items, and give way to their digests: they follow from the data.

    Args:
        probes: the calibration answers.
        judgments: the calls to a model judge.
        benchmark_session: the benchmark with its data.
        asked: what the judge was asked.
    """
    sheets = _RowsByScenario(benchmark_session)
    closed = sheets.add_judgments(judgments, asked)
    sheets.fill()
    return [probe.model_copy(update={"answer": digest_bytes(probe.answer.encode())}) for probe in probes], closed


def _closed(call: Call, change: Change) -> Call:
    """Return a judgment with nothing of what was asked but the model."""
    request = call.request
    return call_with(
        call, change, ModelRequest(endpoint=request.endpoint, api=request.api, body={"model": request.model})
    )


@dataclass(frozen=True)
class _QuotedRow:
    """A row to be quoted."""

    sheet: list[Any]
    place: int
    change: Callable[[Any, Change], Any]
    item_id: str | None
    wholes: bool

    def made(self, change: Change) -> Any:
        return self.change(self.sheet[self.place], change)

    def put(self, row: Any) -> None:
        self.sheet[self.place] = row


class _RowsByScenario:
    """Rows that are quoted scenario by scenario, so that each is opened once, whatever order the rows are in.

    Args:
        benchmark_session: the benchmark with its data.
    """

    def __init__(self, benchmark_session: BenchmarkSession) -> None:
        self.quoters = ScenarioQuoters(benchmark_session)
        self._jobs: dict[str, list[_QuotedRow]] = {}
        self._strays: list[_QuotedRow] = []

    def add(
        self,
        rows: Iterable[T],
        change: Callable[[T, Change], T],
        scenario_of: Callable[[T], str | None],
        item_of: Callable[[T], str | None] = lambda _row: None,
        wholes: bool = True,
    ) -> list[T]:
        """Return a list of the rows, which :meth:`fill` quotes.

        Args:
            rows: the rows.
            change: changes the text in a row.
            scenario_of: gives the scenario a row belongs to; ``None`` where it names none.
            item_of: gives the item a row belongs to, whose question and key are quoted however short they are.
            wholes: whether what is short is quoted where it is all there is.
        """
        sheet = list(rows)
        for place, row in enumerate(sheet):
            scenario_id = scenario_of(row)
            jobs = self._strays if scenario_id is None else self._jobs.setdefault(scenario_id, [])
            jobs.append(_QuotedRow(sheet, place, change, item_of(row), wholes))
        return sheet

    def add_judgments(self, rows: Iterable[Call], asked: Asked) -> list[Call]:
        """Return a list of judgments; their verdicts are words of their own, however short an answer key is."""
        return self.add(rows, _closed, lambda row: asked[row.key][0] if row.key in asked else None, wholes=False)

    def fill(self) -> None:
        """Quote all rows."""
        parts = self._parts_of_strays()
        for scenario_id, jobs in self._jobs.items():
            quoter = self.quoters.of(scenario_id)
            for job in jobs:
                row = job.made(_encoding(quoter, job))
                spills = quoter.spills(row.to_json())
                job.put(job.made(quoter.encode_every_word) if spills else row)
            for part in parts:
                parts[part] = quoter.refine(parts[part])
        for job in self._strays:
            job.put(job.made(self._refined(parts)))

    def _refined(self, parts: Mapping[str, str]) -> Change:
        """Return the change of rows that name no scenario; JSON is quoted as a text where that leaves less of it."""

        def change(text: str, *, keep: frozenset[str] = frozenset()) -> str:
            made = quoted(text, parts.__getitem__, self.quoters.spell, keep)
            return min(made, as_text(parts[text]), key=left) if is_json(text) else made

        return change

    def _parts_of_strays(self) -> dict[str, str]:
        """Return the texts of the rows that name no scenario, each with what it is so far."""
        parts: dict[str, str] = {}

        def collect(part: str) -> str:
            return parts.setdefault(part, plain(part))

        def collecting(text: str, *, keep: frozenset[str] = frozenset()) -> str:
            quoted(text, collect, self.quoters.spell, keep)
            if is_json(text):
                collect(text)
            return text

        for job in self._strays:
            job.change(job.sheet[job.place], collecting)
        return parts


def _encoding(quoter: Quoter, job: _QuotedRow) -> Change:
    def encode(text: str, *, keep: frozenset[str] = frozenset()) -> str:
        return quoter.encode(text, job.item_id, wholes=job.wholes, keep=keep)

    return encode
