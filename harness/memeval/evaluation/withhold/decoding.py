"""Restores the full text in the rows of a run whose benchmark text is withheld."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeVar, cast

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.withhold.encoding import (
    Requests,
    ScenarioQuoters,
    requests_in_run,
    scenario_of_call,
    scenarios_of_reader_calls,
)
from memeval.evaluation.withhold.marks import unquoted
from memeval.evaluation.withhold.rows import Change, call_with, context_with, grade_with, response_with, traffic_with
from memeval.records.base import Stored
from memeval.records.call import Call, Traffic
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.response import Context, Response
from memeval.records.track import Redistribution

T = TypeVar("T", bound=Stored)


def decoded_run(
    folder: RunFolder, benchmark_session: BenchmarkSession, read: Mapping[str, Sequence[Stored]] | None = None
) -> RunFolder:
    """Return a run whose rows have their full text, even if its stored rows withhold the benchmark's text.

    ``benchmark_session``: the benchmark, opened on the data of the run (see ``session_of_run``). ``read``: its stored
    responses, contexts and grades that were read already, by file name. Returns the run itself if its rows have their
    full text. Otherwise a run with the same methods, which restores the text from the data while reading. Its files,
    head and digests are those of the stored run. Raises ``BadInput`` if the run used other data.
    """
    run = folder.run
    if run.redistribution is Redistribution.FULL:
        return folder
    if run.track.data_digest != benchmark_session.dataset.digest:
        raise BadInput(
            f"run {run.run_id} used data {run.track.data_digest}, but this data is {benchmark_session.dataset.digest}.",
            where=folder.path,
            remedy="Its rows refer to their data by position. Use the same data.",
        )
    return DecodedRun(folder.path, benchmark_session, read or {})


@dataclass(frozen=True)
class DecodedRun(RunFolder):
    """A sealed run that restores the text of its rows; see :func:`decoded_run`.

    Reading raises ``BadInput`` if a row names text that the data does not have.
    """

    benchmark_session: BenchmarkSession = field(compare=False, repr=False)
    read: Mapping[str, Sequence[Stored]] = field(default_factory=dict, compare=False, repr=False)
    """Stored rows that were read already, by file name."""

    def responses(self) -> Iterator[Response]:
        return self._decoded("responses.jsonl", super().responses, response_with, lambda row: row.scenario_id)

    def contexts(self) -> Iterator[Context]:
        return self._decoded("contexts.jsonl", super().contexts, context_with, lambda row: row.scenario_id)

    def grades(self) -> Iterator[Grade]:
        of_item = self._quoters.scenario_of
        return self._decoded("grades.jsonl", super().grades, grade_with, lambda row: of_item.get(row.item_id))

    def judgments(self) -> Iterator[Call]:
        """See :meth:`RunFolder.judgments`.

        The requests are computed from the responses, and found by their digest. If no response leads to a call, its
        request has only the model.
        """
        requests: Requests = self._requests if "judgments.jsonl" in self.run.files else {}

        def with_request(row: Call, change: Change) -> Call:
            return call_with(row, change, requests[row.key][1] if row.key in requests else row.request)

        def scenario_of(row: Call) -> str | None:
            return requests[row.key][0] if row.key in requests else None

        return self._decoded("judgments.jsonl", super().judgments, with_request, scenario_of)

    def calls(self) -> Iterator[Call]:
        has_calls = "calls.jsonl" in self.run.files
        of_reader = scenarios_of_reader_calls(super().responses()) if has_calls else {}
        return self._decoded("calls.jsonl", super().calls, call_with, lambda row: scenario_of_call(row, of_reader))

    def traffic(self) -> Iterator[Traffic]:
        return self._decoded("traffic.jsonl", super().traffic, traffic_with, lambda row: row.scenario_id or None)

    @cached_property
    def _quoters(self) -> ScenarioQuoters:
        return ScenarioQuoters(self.benchmark_session)

    @cached_property
    def _requests(self) -> Requests:
        return requests_in_run(self.benchmark_session, self.run.track, self.prompts(), list(self.responses()))

    def _decoded(
        self,
        name: str,
        stored: Callable[[], Iterable[T]],
        with_change: Callable[[T, Change], T],
        scenario_of: Callable[[T], str | None],
    ) -> Iterator[T]:
        rows = self.read.get(name)
        for number, row in enumerate(stored() if rows is None else cast("Sequence[T]", rows), start=1):
            scenario_id = scenario_of(row)
            try:
                yield with_change(row, self._decoding(scenario_id))
            except BadInput as error:
                raise BadInput(
                    error.problem, where=f"{self.file(name)}:{number}", remedy=error.remedy or "Restore the file."
                ) from None

    def _decoding(self, scenario_id: str | None) -> Change:
        spell = self._quoters.spell if scenario_id is None else self._quoters.of(scenario_id).spell
        return partial(unquoted, spell=spell)
