"""Runs a deterministic system again on drawn items, to test the answers that its run stored."""

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.archive.sources import stored_sources
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.checks.subject import draw
from memeval.evaluation.verify.reask import FEWEST, starting_again
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.execution.progress import Progress
from memeval.execution.setup import SystemSetup
from memeval.grading.base import last_attempts
from memeval.keys import ItemKey
from memeval.local import is_local
from memeval.local.catalogue import address_of, setup_of
from memeval.options import ModelOptions, RunOptions, require_at_least
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import Sample
from memeval.records.response import Response
from memeval.records.run import Isolation, Run, SystemKind
from memeval.systems.source import SystemSource, find_system, folder_source


@dataclass(frozen=True)
class Rerun:
    sample: Sample
    sandboxed: bool
    """Whether the second run was in a sandbox; otherwise the system could have read its stored answers."""


@dataclass(frozen=True)
class _DrawnSession(BenchmarkSession):
    """A benchmark of which only drawn scenarios are run."""

    drawn: frozenset[str] = frozenset()
    """The ids of the scenarios. All their questions are asked, since a question may change what a system stores."""

    def selected(self, limit: int | None) -> tuple[ItemKey, ...]:
        """Return the items of the drawn scenarios, in plan order."""
        return tuple(key for key in self.keys if key.scenario_id in self.drawn)


def rerun(
    folder: RunFolder,
    source: SystemSource,
    items: int = 25,
    models: ModelOptions | None = None,
    setup: SystemSetup | None = None,
    data: Path | None = None,
    progress: Progress | None = None,
) -> Rerun:
    """Run a system again on the scenarios of drawn items, and compare its answers with the stored ones.

    ``models``: limits and budgets of model calls, which are all made again. Raises ``BadInput`` if the system does not
    declare equal answers, another system is given, or the data is missing. Raises ``CheckFailed`` if the second run
    failed. Raises ``GatewayStopped`` if a model's endpoint or key failed, or a budget is spent.
    """
    require_at_least("--n", items, FEWEST)
    run = folder.run
    _refuse(folder, source)
    session = session_of_run(run, data)
    if session.consists_of_trials:
        raise BadInput(
            f"run {run.run_id} is one of trials: another kill at another moment gives other counts.",
            where=folder.path,
            remedy="Run the system a second time, and record the repetition: memeval ledger repeat.",
        )
    stored = _by_item(decoded_run(folder, session).responses())
    keys = {key.item_id: key for key in session.keys if key.item_id in stored and _is_answered(stored[key.item_id])}
    if not keys:
        raise BadInput(f"run {run.run_id} has no answers.", where=folder.path)
    drawn = draw(keys, items, folder.digest)
    inherited = {field.name: getattr(session, field.name) for field in fields(BenchmarkSession)}
    limited = _DrawnSession(**inherited, drawn=frozenset(key.scenario_id for key in drawn))
    with starting_again(), tempfile.TemporaryDirectory(prefix="memeval-rerun-") as scratch:
        options = RunOptions(
            results=Path(scratch),
            reader=run.track.reader,
            models=models or ModelOptions(),
            setup=setup or SystemSetup(),
            skip_conformance=True,
            limits=run.track.limits,
            concurrency=run.timing.concurrency,
            keep_going=True,
        )
        again = run_system(source, limited, options, progress)
        found = _by_item(decoded_run(again, session).responses())
        isolation = again.run.isolation
    failed = [key.item_id for key in drawn if not _is_answered(found.get(key.item_id, []))]
    if failed:
        raise CheckFailed(
            f"the second run failed on {len(failed)} of {len(drawn)} drawn items, first on {failed[0]}.",
            remedy=f"Find the cause: memeval run {run.system.named}.",
        )
    differing = [key.item_id for key in drawn if _said(found[key.item_id]) != _said(stored[key.item_id])]
    sample = Sample(asked=len(drawn), agreed=len(drawn) - len(differing), differing=tuple(differing))
    return Rerun(sample, isolation is Isolation.SANDBOXED)


def source_of_run(run: Run, results: Path, named: str | None = None) -> SystemSource:
    """Return the system of a run, with the same files.

    ``named``: the system, as for ``memeval run``; ``None`` to find it by its slug, or its stored source by its digest.
    Raises ``BadInput`` if the system is not here, or its files differ from those of the run.
    """
    digest = run.system.submission_digest
    stored = stored_sources(results, digest)
    try:
        source = find_system(named or run.system.named)
    except BadInput as error:
        if named is not None or not stored:
            problem = f"the system of run {run.run_id} is not here: {error.problem}"
            raise BadInput(problem, remedy="Name its folder or file: --system PATH.") from None
        source = _stored_source(stored, run.system.variant)
    if named is None and source.submission_digest != digest and stored:
        source = _stored_source(stored, run.system.variant)
    if source.submission_digest != digest:
        raise BadInput(
            f"run {run.run_id} used '{run.system.slug}' with digest {digest[:19]}…, but this one has "
            f"{source.submission_digest[:19]}….",
            remedy="Check out the version of the run, and name its folder or file: --system PATH.",
        )
    return source


def _stored_source(stored: Sequence[Path], variant: str | None) -> SystemSource:
    """Return a stored source; of several with one digest, the first that has the variant."""
    for folder in stored[:-1]:
        with suppress(BadInput):
            return folder_source(folder, variant)
    return folder_source(stored[-1], variant)


def _refuse(folder: RunFolder, source: SystemSource) -> None:
    run, system = folder.run, folder.run.system
    if system.kind is SystemKind.IMPORTED:
        raise BadInput(f"the answers of run {run.run_id} are imported: there is no system to run.", where=folder.path)
    if not system.deterministic:
        raise BadInput(
            f"'{system.slug}' does not declare that a second run gives equal answers.",
            where=folder.path,
            remedy="Run it a second time, and record the repetition: memeval ledger repeat.",
        )
    _refuse_reader(folder)
    if (source.kind, source.view) != (system.kind, system.view):
        raise BadInput(f"'{source.slug}' is a {source.kind}, but the run is of a {system.kind}.", where=folder.path)


def _refuse_reader(folder: RunFolder) -> None:
    """Refuse a reader that may answer otherwise: any model but one on this machine, of the same weights and engine."""
    run, endpoint = folder.run, folder.run.track.reader_endpoint
    if endpoint is None:
        return
    name = endpoint.partition("/")[0].partition(":")[2]
    if not is_local(endpoint):
        raise BadInput(
            f"a model reader wrote the answers of run {run.run_id}: they may differ.",
            where=folder.path,
            remedy="Run the system a second time, and record the repetition: memeval ledger repeat.",
        )
    if (here := address_of(name, setup_of(name))) != endpoint:
        raise BadInput(
            f"the reader of run {run.run_id} was {endpoint}, but here it is {here}: other weights, settings or engine.",
            where=folder.path,
            remedy="Install the engine that the prompt 'reader/model' of the run names.",
        )


def _by_item(responses: Iterable[Response]) -> dict[str, list[Response]]:
    """Return the last attempts of each item, by question."""
    found: dict[str, list[Response]] = {}
    for response in last_attempts(responses).values():
        found.setdefault(response.item_id, []).append(response)
    return found


def _is_answered(responses: list[Response]) -> bool:
    return bool(responses) and not any(response.outcome.is_error for response in responses)


def _said(responses: list[Response]) -> dict[str, object]:
    """Return the answers by question; where only retrieval is graded, the retrieved texts."""
    return {
        response.question_id: response.answer
        if response.answer.strip()
        else [(item.turn_id, item.text) for item in response.items or ()]
        for response in responses
    }
