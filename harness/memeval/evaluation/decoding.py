"""A stored run opened with its data: the rows of a run whose benchmark's words stay out of it, as they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from memeval.archive.runs import RunFolder
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.quoting.marks import unquoted
from memeval.evaluation.quoting.rows import (
    Change,
    call_with,
    context_with,
    grade_with,
    response_with,
    traffic_with,
)
from memeval.evaluation.withholding import Asked, ScenarioQuoters, asked_in_run, read_in, scenario_of_call
from memeval.records.base import Digest, Stored
from memeval.records.call import Call
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.response import Context, Response
from memeval.records.track import Redistribution
from memeval.records.traffic import Traffic

T = TypeVar("T", bound=Stored)


def decoded_run(folder: RunFolder, benchmark_session: BenchmarkSession) -> RunFolder:
    """Return a run whose rows read as they were made, whatever its benchmark lets be published.

    Args:
        folder: a sealed run.
        benchmark_session: the benchmark, opened on the data of the run (see ``session_of_run``).

    Returns:
        The run itself where its rows hold all words; else one with the same methods, whose rows are spelled out from
        the data as they are read. Its files, head and digests are those of the stored run.

    Raises:
        BadInput: the run was made on other data.
    """
    run = folder.run
    if run.redistribution is Redistribution.FULL:
        return folder
    if run.track.data_digest != benchmark_session.dataset.digest:
        raise BadInput(
            f"run {run.run_id} used data {run.track.data_digest}, but this data is {benchmark_session.dataset.digest}.",
            where=folder.path,
            remedy="Its rows hold none of the data's words, and are read with that very data only.",
        )
    return DecodedRun(folder.path, benchmark_session)


@dataclass(frozen=True)
class DecodedRun(RunFolder):
    """A sealed run whose rows are spelled out; :func:`decoded_run` makes it.

    Reading raises ``BadInput`` where a row names what the data does not have.
    """

    benchmark_session: BenchmarkSession = field(compare=False, repr=False)

    def responses(self) -> Iterator[Response]:
        """See :meth:`RunFolder.responses`."""
        return self._spelled("responses.jsonl", super().responses(), response_with, lambda row: row.scenario_id)

    def contexts(self) -> Iterator[Context]:
        """See :meth:`RunFolder.contexts`."""
        return self._spelled("contexts.jsonl", super().contexts(), context_with, lambda row: row.scenario_id)

    def grades(self) -> Iterator[Grade]:
        """See :meth:`RunFolder.grades`."""
        of_item = self._quoters.scenario_of
        return self._spelled("grades.jsonl", super().grades(), grade_with, lambda row: of_item.get(row.item_id))

    def judgments(self) -> Iterator[Call]:
        """See :meth:`RunFolder.judgments`.

        What was asked follows from the responses, and stands under the digest of it. A call that follows from none of
        them has the model for a request.
        """
        asked: Asked = self._asked if "judgments.jsonl" in self.run.files else {}

        def with_request(row: Call, change: Change) -> Call:
            return call_with(row, change, asked[row.key][1] if row.key in asked else row.request)

        def scenario_of(row: Call) -> str | None:
            return asked[row.key][0] if row.key in asked else None

        return self._spelled("judgments.jsonl", super().judgments(), with_request, scenario_of)

    def calls(self) -> Iterator[Call]:
        """See :meth:`RunFolder.calls`."""
        read = self._read if "calls.jsonl" in self.run.files else {}
        return self._spelled("calls.jsonl", super().calls(), call_with, lambda row: scenario_of_call(row, read))

    def traffic(self) -> Iterator[Traffic]:
        """See :meth:`RunFolder.traffic`."""
        return self._spelled("traffic.jsonl", super().traffic(), traffic_with, lambda row: row.scenario_id or None)

    @cached_property
    def _quoters(self) -> ScenarioQuoters:
        return ScenarioQuoters(self.benchmark_session)

    @cached_property
    def _asked(self) -> Asked:
        return asked_in_run(self.benchmark_session, self.run.track, self.prompts(), list(self.responses()))

    @cached_property
    def _read(self) -> dict[Digest, str]:
        return read_in(super().responses())

    def _spelled(
        self,
        name: str,
        rows: Iterable[T],
        with_change: Callable[[T, Change], T],
        scenario_of: Callable[[T], str | None],
    ) -> Iterator[T]:
        for number, row in enumerate(rows, start=1):
            scenario_id = scenario_of(row)
            try:
                yield with_change(row, self._decoding(scenario_id))
            except BadInput as error:
                raise BadInput(
                    error.problem, where=f"{self.file(name)}:{number}", remedy=error.remedy or "Restore the file."
                ) from None

    def _decoding(self, scenario_id: str | None) -> Change:
        spell = self._quoters.spell if scenario_id is None else self._quoters.of(scenario_id).spell

        def decode(text: str, *, keep: frozenset[str] = frozenset()) -> str:
            return unquoted(text, spell, keep)

        return decode
