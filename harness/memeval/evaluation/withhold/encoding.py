"""Withholds a benchmark's text from stored rows: replaces it by marks that refer to the data.

The text of a row comes from its scenario. A row without a scenario, such as a line of output, is searched in all
scenarios of the run. Judge requests are stored with the model only: data and responses determine the rest, and the key
proves it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from memeval.archive.rows import REMEDY
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of
from memeval.evaluation.judge.judges import ChosenJudge, judge_of
from memeval.evaluation.withhold.marks import as_text, is_json, left, plain, quoted
from memeval.evaluation.withhold.quoter import Quoter, no_such_mark
from memeval.evaluation.withhold.rows import (
    Change,
    Rows,
    call_with,
    context_with,
    grade_with,
    line_with,
    response_with,
    traffic_with,
)
from memeval.judging.base import Case, parse_strict
from memeval.keys import ItemKey
from memeval.records.audit import Probe
from memeval.records.base import Digest, Stored, digest_bytes
from memeval.records.call import Call, Caller, ModelRequest, Prompt
from memeval.records.errors import BadInput
from memeval.records.journal import LogLine
from memeval.records.response import Response
from memeval.records.track import Redistribution, Track

T = TypeVar("T", bound=Stored)

MOST_CHARACTERS = 5_000_000
"""Characters of text whose quoters stay in memory while another scenario is opened; rows can be in any order."""


class ScenarioQuoters:
    """The quoters of a benchmark's scenarios, each created when accessed."""

    def __init__(self, benchmark_session: BenchmarkSession) -> None:
        self._benchmark_session = benchmark_session
        self._keys: dict[str, list[ItemKey]] = {}
        for key in benchmark_session.all_keys:
            self._keys.setdefault(key.scenario_id, []).append(key)
        self.scenario_of = {key.item_id: key.scenario_id for keys in self._keys.values() for key in keys}
        """The scenario of every item."""
        self._kept: dict[str, Quoter] = {}

    def of(self, scenario_id: str) -> Quoter:
        """Return the quoter of a scenario. Raises ``BadInput`` if the data has no such scenario."""
        quoter = self._kept.pop(scenario_id, None)
        if quoter is None:
            while sum(each.characters for each in self._kept.values()) > MOST_CHARACTERS:
                del self._kept[next(iter(self._kept))]
            try:
                scenario = self._benchmark_session.scenarios[scenario_id]
            except KeyError:
                raise BadInput(f"the data has no scenario {scenario_id!a}.", remedy=REMEDY) from None
            quoter = Quoter(scenario, self._keys.get(scenario_id, ()))
        self._kept[scenario_id] = quoter  # last, so the first is the one that was not used for longest
        return quoter

    def spell(self, mark: str) -> str:
        """Return the text of a mark that names its scenario. Raises ``BadInput`` if the mark refers to no text."""
        scenario, _, rest = mark.partition(" ")
        if not scenario.startswith("@"):
            raise no_such_mark(mark, "no scenario")
        return self.of(unquote(scenario[1:])).spell(rest)


Requests = Mapping[Digest, tuple[str, ModelRequest]]
"""Judge requests by key, each with its scenario id."""


def requests_of(judge: ChosenJudge, cases: Iterable[Case]) -> Requests:
    """Return all possible requests to a judge about some answers; empty for the rule set."""
    model = judge.model
    if model is None:
        return {}
    return {
        request.key: (case.scenario.scenario_id, request)
        for case in cases
        for request in (model.request(case), model.reminder(case))
    }


def requests_in_run(
    benchmark_session: BenchmarkSession, track: Track, prompts: Iterable[Prompt], responses: Sequence[Response]
) -> Requests:
    """Return all possible requests to the judge of a run.

    ``responses``: the run's responses with their full text. Raises ``BadInput`` if this memeval does not have the
    judge.
    """
    judge = judge_of(track, prompts)
    if judge.model is None:
        return {}
    return requests_of(judge, cases_of(benchmark_session, benchmark_session.keys, responses))


def scenarios_of_reader_calls(responses: Iterable[Response]) -> dict[Digest, str]:
    return {row.reader_key: row.scenario_id for row in responses if row.reader_key is not None}


def scenario_of_call(call: Call, reader_scenarios: Mapping[Digest, str]) -> str | None:
    """Return the scenario id of a reader's or a system's call; ``None`` if unknown."""
    return reader_scenarios.get(call.key) if call.caller is Caller.READER else call.scenario_id or None


def has_verdict(reply: str | None, verdict: bool | None, redistribution: Redistribution) -> bool:
    """Return whether a judge's reply gives a verdict; a reply with withheld text counts as yes.

    ``redistribution``: whether text may be withheld from the reply.
    """
    has_marks = redistribution is Redistribution.IDS and "⟦" in (reply or "")
    return has_marks or parse_strict(reply or "") is verdict


def withheld(
    rows: Rows, log: Sequence[LogLine], benchmark_session: BenchmarkSession, track: Track
) -> tuple[Rows, list[LogLine]]:
    """Return the rows of a run and its log without the benchmark's text."""
    pending = _RowsByScenario(benchmark_session)
    requests = requests_in_run(benchmark_session, track, rows.prompts, rows.responses)
    reader_scenarios = scenarios_of_reader_calls(rows.responses)
    of_item = pending.quoters.scenario_of
    quoted_rows = replace(
        rows,
        responses=pending.add(rows.responses, response_with, lambda row: row.scenario_id, lambda row: row.item_id),
        contexts=pending.add(rows.contexts, context_with, lambda row: row.scenario_id),
        grades=pending.add(rows.grades, grade_with, lambda row: of_item.get(row.item_id), lambda row: row.item_id),
        judgments=pending.add_judgments(rows.judgments, requests),
        calls=pending.add(rows.calls, call_with, lambda row: scenario_of_call(row, reader_scenarios)),
        traffic=pending.add(rows.traffic, traffic_with, lambda row: row.scenario_id or None),
    )
    lines = pending.add(log, line_with, lambda row: row.scenario_id or None)
    pending.fill()
    return quoted_rows, lines


def withheld_audit(
    probes: Sequence[Probe], judgments: Sequence[Call], benchmark_session: BenchmarkSession, requests: Requests
) -> tuple[list[Probe], list[Call]]:
    """Return the rows of an audit without the benchmark's text.

    Calibration answers combine the keys of several items, so they are replaced by their digests.
    """
    pending = _RowsByScenario(benchmark_session)
    quoted_judgments = pending.add_judgments(judgments, requests)
    pending.fill()
    quoted_probes = [probe.model_copy(update={"answer": digest_bytes(probe.answer.encode())}) for probe in probes]
    return quoted_probes, quoted_judgments


def _with_model_only(call: Call, change: Change) -> Call:
    """Return a judgment whose request has the model only."""
    request = call.request
    return call_with(
        call, change, ModelRequest(endpoint=request.endpoint, api=request.api, body={"model": request.model})
    )


@dataclass(frozen=True)
class _QuotedRow:
    rows: list[Any]
    index: int
    change: Callable[[Any, Change], Any]
    item_id: str | None
    wholes: bool

    def changed(self, change: Change) -> Any:
        return self.change(self.rows[self.index], change)


class _RowsByScenario:
    """Rows grouped by scenario, so that each scenario is opened once."""

    def __init__(self, benchmark_session: BenchmarkSession) -> None:
        self.quoters = ScenarioQuoters(benchmark_session)
        self._jobs: dict[str, list[_QuotedRow]] = {}
        self._without_scenario: list[_QuotedRow] = []

    def add(
        self,
        rows: Iterable[T],
        change: Callable[[T, Change], T],
        scenario_of: Callable[[T], str | None],
        item_of: Callable[[T], str | None] = lambda _row: None,
        wholes: bool = True,
    ) -> list[T]:
        """Return a list of the rows, which :meth:`fill` quotes.

        ``item_of``: returns the item id of a row, or ``None``. Its question and key are always quoted, even if short.
        ``wholes``: whether to quote a short text that is a complete field.
        """
        changed = list(rows)
        for index, row in enumerate(changed):
            scenario_id = scenario_of(row)
            jobs = self._without_scenario if scenario_id is None else self._jobs.setdefault(scenario_id, [])
            jobs.append(_QuotedRow(changed, index, change, item_of(row), wholes))
        return changed

    def add_judgments(self, rows: Iterable[Call], requests: Requests) -> list[Call]:
        """Return a list of judgments, which :meth:`fill` quotes except for their verdicts."""
        return self.add(
            rows, _with_model_only, lambda row: requests[row.key][0] if row.key in requests else None, wholes=False
        )

    def fill(self) -> None:
        parts = self._parts_without_scenario()
        for scenario_id, jobs in self._jobs.items():
            quoter = self.quoters.of(scenario_id)
            for job in jobs:
                row = job.changed(partial(quoter.encode, item_id=job.item_id, wholes=job.wholes))
                spills = quoter.spills(row.to_json())
                job.rows[job.index] = job.changed(quoter.encode_every_word) if spills else row
            for part in parts:
                parts[part] = quoter.refine(parts[part])
        for job in self._without_scenario:
            job.rows[job.index] = job.changed(self._refined(parts))

    def _refined(self, parts: Mapping[str, str]) -> Change:
        """Return the change for rows without a scenario; JSON is quoted as plain text if that leaves less text."""

        def change(text: str, *, keep: frozenset[str] = frozenset()) -> str:
            result = quoted(text, parts.__getitem__, self.quoters.spell, keep)
            return min(result, as_text(parts[text]), key=left) if is_json(text) else result

        return change

    def _parts_without_scenario(self) -> dict[str, str]:
        """Return the texts of the rows without a scenario, each with its current replacement."""
        parts: dict[str, str] = {}

        def collect(part: str) -> str:
            return parts.setdefault(part, plain(part))

        def collecting(text: str, *, keep: frozenset[str] = frozenset()) -> str:
            quoted(text, collect, self.quoters.spell, keep)
            if is_json(text):
                collect(text)
            return text

        for job in self._without_scenario:
            job.changed(collecting)
        return parts
