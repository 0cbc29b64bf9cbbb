"""Runs a control again on drawn items of its stored run: memeval ships it, and it gives equal answers every time."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import overload

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.readers import reader_named
from memeval.evaluation.verify.checks.subject import ControlAnswers, NoData, Part, Subject, draw
from memeval.evaluation.verify.findings import Check, Finding
from memeval.execution.model_reader import PREFIXES
from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import ScenarioWork
from memeval.records.base import Digest, digest_of
from memeval.records.errors import MemevalError
from memeval.records.response import Response
from memeval.records.run import SystemKind, View
from memeval.records.scenario import Ingest, Question, Scenario, Session, Step, Steps
from memeval.records.track import Redistribution
from memeval.systems.controls import NATIVE, Control, all_controls
from memeval.systems.live import LiveSystem
from memeval.systems.source import control_source

NAME = "control"

DRAWN = 25
"""Number of drawn items. They find answers that were changed in one item of nine, in 95 runs of 100."""

KEPT_STEPS = 20_000
"""Maximum number of steps of a history that are kept in memory for the next control."""

TRIALS = "faults and clocks are the word of the runner"
"""The reason for trials: another kill at another moment gives other counts."""

FORMER = "an older version of the control"
"""The reason if the control's file is another one today, and gives other answers."""


def check_control(subject: Subject, items: int = DRAWN) -> Check | None:
    """Check drawn answers of a control's run: the control gives them again.

    The control runs in this process. The digest of ``run.json`` draws the items, so that nobody can choose them.
    Returns ``None`` for a run of another system.
    """
    run, folder, session = subject.run, subject.folder, subject.session
    control = all_controls().get(run.system.slug)
    if run.system.kind is not SystemKind.CONTROL or control is None:
        return None
    if run.track.reader.startswith(PREFIXES):
        return Check(NAME, not_checked="a model reader wrote the answers")
    if isinstance(session, NoData):
        return Check(NAME, not_checked=session.reason)
    if session.consists_of_trials:
        return Check(NAME, not_checked=TRIALS)
    stored = subject.with_text(session).responses
    differing, drawn = _differing(subject, session, control, stored, items)
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


UNCHANGED = frozenset(
    {
        *("bm25", "file-grep", "first-stated", "full-context"),
        *("last-stated", "no-memory", "placebo", "recency-window"),
    }
)
"""Controls that store nothing when they are asked: an answer is equal whatever was asked before."""


@dataclass(frozen=True)
class _Rerun:
    folder: RunFolder
    control: Control
    drawn: frozenset[str]
    parts: Mapping[str, Part]
    """What decides the answers, by the id of each drawn item and of those that must be asked with it."""

    @classmethod
    def of(
        cls, folder: RunFolder, session: BenchmarkSession, control: Control, stored: Iterable[Response], items: int
    ) -> _Rerun:
        answered = {row.item_id for row in stored}
        keys = [key for key in session.keys if key.item_id in answered]
        drawn = draw({key.item_id: key for key in keys}, items, folder.digest)
        asked: list[tuple[str, ...]] = [(key.item_id,) for key in drawn]
        # Questions may change what a control stores; with a view of the evidence, each item has its own instance.
        if control.slug not in UNCHANGED and control.view is View.ALL:
            together: dict[str, list[str]] = {key.scenario_id: [] for key in drawn}
            for key in keys:
                if key.scenario_id in together:
                    together[key.scenario_id].append(key.item_id)
            asked = [tuple(items) for items in together.values()]
        track = folder.run.track.digest
        parts = {item: (control.slug, track, one) for one in asked for item in one}
        return cls(folder, control, frozenset(key.item_id for key in drawn), parts)

    def works(self, session: BenchmarkSession, known: ControlAnswers) -> Sequence[ScenarioWork]:
        """Return the scenarios of the items whose answers are not known yet."""
        open_items = {item for item, part in self.parts.items() if part not in known}
        return session.works([key for key in session.keys if key.item_id in open_items], self.control.view, {})

    def keep(self, rows: Iterable[Response], known: ControlAnswers) -> None:
        """Keep answers that the control gave again, unless an error cuts them off."""
        for row in tuple(rows):
            known.setdefault(self.parts[row.item_id], {})[row.question_id] = _answer(row)

    def again(self, row: Response, known: ControlAnswers) -> Digest | None:
        """Return the digest of the answer that the control gave again to a question; ``None`` if it gave none."""
        return known.get(self.parts[row.item_id], {}).get(row.question_id)


class _KeptSteps(Steps):
    """The steps of a history that several controls read in turn: each step is generated once."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._kept: list[Step] = []
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, place: int) -> Step: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...

    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        return self._steps[place]

    def __iter__(self) -> Iterator[Step]:
        for place in range(len(self)):
            if place == len(self._kept):
                step = self._steps[place]
                self._kept.append(step)
                if isinstance(step, Ingest):
                    self._sessions[step.session.session_id] = step.session
            yield self._kept[place]

    def session(self, session_id: str) -> Session:
        return self._sessions.get(session_id) or self._steps.session(session_id)

    def questions(self) -> tuple[Question, ...]:
        return self._steps.questions()

    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        return self._steps.only(session_ids)


def _differing(
    subject: Subject, session: BenchmarkSession, control: Control, stored: list[Response], items: int
) -> tuple[list[int], int]:
    """Return the positions of the drawn answers that the control does not give again, and the number of drawn ones."""
    own, known = _Rerun.of(subject.folder, session, control, stored, items), subject.sessions.control_answers
    works = own.works(session, known)
    if control.view is View.ALL and works and works[0].scenario.is_streamed:
        _run_together([own, *_others(subject, session, items)], session, known)
    else:
        for work in works:
            own.keep(_responses(work, own), known)
    asked = [at for at, row in enumerate(stored) if row.item_id in own.drawn and row.attempt == 1]
    return [at for at in asked if own.again(stored[at], known) != _answer(stored[at])], len(asked)


def _others(subject: Subject, session: BenchmarkSession, items: int) -> Iterator[_Rerun]:
    """Yield the other controls that read the same histories. A run that cannot be read is left out."""
    for folder in subject.sessions.folders:
        with contextlib.suppress(MemevalError):
            run = folder.run
            control = all_controls().get(run.system.slug)
            is_control = run.system.kind is SystemKind.CONTROL and not run.track.reader.startswith(PREFIXES)
            if control is None or not is_control or control.view is not View.ALL or folder.path == subject.folder.path:
                continue
            if run.redistribution is Redistribution.FULL and subject.sessions.of(run.track) is session:
                yield _Rerun.of(folder, session, control, folder.responses(), items)


def _run_together(reruns: Sequence[_Rerun], session: BenchmarkSession, known: ControlAnswers) -> None:
    """Run several controls on one history before the next, so that each history is generated once.

    An answer that another one than the first does not give is asked for again in the check of its own run. Raises
    ``MemevalError`` if the first control fails.
    """
    by_history: dict[str, list[tuple[_Rerun, ScenarioWork]]] = defaultdict(list)
    for each in reruns:
        for work in each.works(session, known):
            by_history[work.scenario.scenario_id].append((each, work))
    for same in by_history.values():
        scenario = _kept(same[0][1].scenario)
        for each, work in same:
            with contextlib.nullcontext() if each is reruns[0] else contextlib.suppress(MemevalError):
                each.keep(_responses(replace(work, scenario=scenario), each), known)


def _kept(scenario: Scenario) -> Scenario:
    """Return a scenario whose steps are kept in memory when they are read first, if they fit."""
    steps = scenario.steps
    if not isinstance(steps, Steps) or len(steps) > KEPT_STEPS:
        return scenario
    return Scenario.streamed(scenario.scenario_id, _KeptSteps(steps))


def _answer(row: Response) -> Digest:
    """Return the digest of a response without clocks and words of an error: another memeval may say it otherwise."""
    return digest_of({name: value for name, value in row.comparable().items() if name != "error"})


def _responses(work: ScenarioWork, rerun: _Rerun) -> Iterator[Response]:
    track = rerun.folder.run.track
    reader, limits = None if track.reader == NATIVE else reader_named(track.reader), track.limits
    with closing(LiveSystem(_loaded(rerun.control), limits, lambda line: None)) as system:
        for finished in ScenarioRunner(system, reader, limits.search_items).run(work):
            yield from finished.responses


def _loaded(control: Control) -> object:
    """Return a new instance of a control's class. Raises ``ImportError`` if its file cannot be loaded."""
    name = f"control {control.file}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, control.file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{control.file} cannot be loaded.")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return getattr(sys.modules[name], control.class_name)()
