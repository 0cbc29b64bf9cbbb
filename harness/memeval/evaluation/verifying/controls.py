"""Runs a control again on drawn items of its stored run: memeval ships it, and it gives equal answers every time."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from contextlib import closing

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.findings import Check, Finding
from memeval.evaluation.readers import reader_named
from memeval.evaluation.verifying.sessions import NoData
from memeval.evaluation.verifying.subject import Subject
from memeval.execution.model_reader import PREFIX
from memeval.execution.runner import ScenarioRunner
from memeval.execution.work import ScenarioWork
from memeval.records.response import Response
from memeval.records.run import Run, SystemKind
from memeval.records.track import Limits
from memeval.systems.controls import CONTROLS, NATIVE, Control
from memeval.systems.live import LiveSystem
from memeval.systems.source import control_source

NAME = "control"

DRAWN = 25
"""Number of drawn items. They find answers that were changed in one item of nine, in 95 runs of 100."""

FORMER = "an older version of the control"
"""The reason if the control's file is another one today, and gives other answers."""


def check_control(subject: Subject, items: int = DRAWN) -> Check | None:
    """Check drawn answers of a control's run: the control gives them again.

    The control runs in this process. The digest of ``run.json`` draws the items, so that nobody can choose them.

    Args:
        subject: the run.
        items: number of drawn items; all if the run has fewer.

    Returns:
        ``None`` for a run of another system.
    """
    run, folder, session = subject.run, subject.folder, subject.session
    control = CONTROLS.get(run.system.slug)
    if run.system.kind is not SystemKind.CONTROL or control is None:
        return None
    if run.track.reader.startswith(PREFIX):
        return Check(NAME, not_checked="a model reader wrote the answers")
    if isinstance(session, NoData):
        return Check(NAME, not_checked=session.reason)
    stored = subject.with_text(session).responses
    differing, drawn = _differing(folder, session, control, stored, items)
    if not differing:
        return Check(NAME)
    if control_source(control).submission_digest != run.system.submission_digest:
        return Check(NAME, not_checked=FORMER)
    row = stored[differing[0]]
    problem = (
        f"the answer to {row.question_id} is not that of the control {control.slug}. "
        f"{len(differing)} of {drawn} drawn answers differ."
    )
    return Check(NAME, (Finding(f"{folder.file('responses.jsonl')}:{differing[0] + 1}", problem),))


def _differing(
    folder: RunFolder, session: BenchmarkSession, control: Control, stored: list[Response], items: int
) -> tuple[list[int], int]:
    """Return the positions of the drawn answers that the control does not give again, and the number of drawn ones."""
    answered = {row.item_id for row in stored}
    keys = [key for key in session.keys if key.item_id in answered]
    chosen = sorted(keys, key=lambda key: _ticket(folder, key.item_id))[:items]
    drawn, scenarios = {key.item_id for key in chosen}, {key.scenario_id for key in chosen}
    # All items of a scenario run, since a question may change what a system stores.
    works = session.works([key for key in keys if key.scenario_id in scenarios], control.view, {})
    given = {row.question_id: _answer(row) for work in works for row in _responses(work, control, folder.run)}
    asked = [at for at, row in enumerate(stored) if row.item_id in drawn and row.attempt == 1]
    return [at for at in asked if given.get(stored[at].question_id) != _answer(stored[at])], len(asked)


def _answer(row: Response) -> dict[str, object]:
    """Return a response without clocks, and without the words of an error: another memeval may say it otherwise."""
    return {name: value for name, value in row.comparable().items() if name != "error"}


def _ticket(folder: RunFolder, item_id: str) -> bytes:
    return hashlib.sha256(f"{folder.digest}\n{item_id}".encode()).digest()


def _responses(work: ScenarioWork, control: Control, run: Run) -> Iterator[Response]:
    """Yield the responses of a new instance of a control to the questions of a scenario."""
    module = importlib.import_module(f"memeval.systems.controls.{control.file.stem}")
    reader = None if run.track.reader == NATIVE else reader_named(run.track.reader)
    limits: Limits = run.track.limits
    with closing(LiveSystem(getattr(module, control.class_name)(), limits, lambda line: None)) as system:
        runner = ScenarioRunner(system, reader, limits.search_items, lambda *event: None, lambda: False)
        for finished in runner.run(work):
            yield from finished.responses
