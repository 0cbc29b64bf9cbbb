"""Verifies a stored run: what can be computed here is computed again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from memeval.archive.runs import RunFolder
from memeval.benchmarks.registry import Extension, extensions
from memeval.benchmarks.session import refuse_removed
from memeval.evaluation.verify.checks import calls, clocks, contexts, controls, files, rows, systems, track
from memeval.evaluation.verify.checks.subject import Sessions, Subject
from memeval.evaluation.verify.findings import REMEDY, Check, Finding
from memeval.records.errors import BadInput, MemevalError
from memeval.records.response import Response

CHECKS: tuple[tuple[str, Callable[[Subject], Check | None]], ...] = (
    (track.NAME, track.check_track),
    (systems.NAME, lambda subject: systems.check_system(subject.folder, passed=subject.sessions.systems)),
    (rows.NAME, rows.check_rows),
    (contexts.NAME, contexts.check_contexts),
    (rows.SCORES, rows.check_scores),
    (calls.JUDGMENTS, calls.check_judgments),
    (calls.NAME, calls.check_calls),
    (clocks.NAME, clocks.check_clocks),
    (controls.NAME, controls.check_control),
)
"""The checks of a run whose files can be read, by name, in the order of their lines.

A check that does not apply to a run gives ``None``.
"""

GROUP = "memeval.checks"
"""The group of the entry points of other packages' checks: a name, and a function like those of ``CHECKS``."""

OnRead = Callable[[RunFolder, Sequence[Response]], None]

_OWN_NAMES = frozenset({files.NAME, *(name for name, _check in CHECKS)})

MISSING = "files are missing"

MOST = 20
"""Maximum number of problems of one check of one run that are named."""


def checks_of_run(folder: RunFolder, sessions: Sessions | None = None, on_read: OnRead | None = None) -> list[Check]:
    """Check a stored run, without network; with the benchmark's data where that is here.

    ``sessions``: benchmarks that are open already; ``None`` to open them. ``on_read``: called with the run and its
    responses, for those who need them too. Returns one result a check, always in the same order. A check that was not
    made says why.
    """
    try:
        head = folder.run
    except MemevalError as error:
        return _unreadable(folder, error)
    try:
        refuse_removed(head.track)
    except MemevalError as error:
        return _removed(folder, error)
    try:
        subject = Subject.read(folder, sessions or Sessions())
        digests = files.check_files(folder, subject.digests)
        if digests.findings and not folder.has_rows:
            return [digests, *_not_made(MISSING)]
        if on_read is not None:
            on_read(folder, subject.responses)
    except MemevalError as error:
        return _unreadable(folder, error)
    made = (_made(name, check, subject) for name, check in CHECKS)
    brought = (_brought(extension, subject) for extension in extensions(GROUP, "check"))
    return [digests, *(each for each in (*made, *brought) if each is not None)]


def _made(name: str, check: Callable[[Subject], Check | None], subject: Subject) -> Check | None:
    """Make a check. Rows that do not fit the data are a problem of the run. Of many problems, the first are named."""
    try:
        made = check(subject)
    except MemevalError as error:
        return Check(name, (Finding(error.where or subject.head, error.problem, error.remedy or REMEDY),))
    if made is None or len(made.findings) <= MOST:
        return made
    more = Finding(made.findings[MOST].where, f"and {len(made.findings) - MOST:,} more problems of the {name}.")
    return replace(made, findings=(*made.findings[:MOST], more))


def _brought(extension: Extension, subject: Subject) -> Check | None:
    name = extension.name if extension.name not in _OWN_NAMES else f"{extension.package} {extension.name}"
    try:
        function = cast("Callable[[Subject], object]", extension.load())
    except BadInput as error:
        return Check(name, not_checked=error.problem.rstrip("."))

    def check(subject: Subject) -> Check | None:
        made = function(subject)
        if made is None or isinstance(made, Check):
            return None if made is None else replace(made, name=name)
        raise TypeError(f"it returns {type(made).__name__}, and not a Check")

    try:
        return _made(name, check, subject)
    except (Exception, SystemExit) as error:  # foreign code may raise anything
        return Check(name, not_checked=extension.unusable(error).problem.rstrip("."))


def _unreadable(folder: RunFolder, error: MemevalError) -> list[Check]:
    """Return the checks of a run of which a file cannot be read: all problems of its files, if its head can be read."""
    found = Finding(error.where or str(folder.path / "run.json"), error.problem, error.remedy or REMEDY)
    try:
        digests = files.check_files(folder)
    except MemevalError:
        digests = Check(files.NAME)
    if digests.findings and not folder.has_rows:
        return [digests, *_not_made(MISSING)]
    return [Check(files.NAME, (*digests.findings, found)), *_not_made("a file cannot be read")]


def _removed(folder: RunFolder, error: MemevalError) -> list[Check]:
    found = Finding(f"{folder.path / 'run.json'}: track", error.problem, error.remedy or REMEDY)
    reason = "memeval no longer has what the track names"
    others = (each for each in _not_made(reason) if each.name != track.NAME)
    return [Check(files.NAME, (), reason), Check(track.NAME, (found,)), *others]


def _not_made(reason: str) -> Iterator[Check]:
    return (Check(name, (), reason) for name, _check in CHECKS if name != controls.NAME)


def verify_run(folder: RunFolder, sessions: Sessions | None = None) -> list[Finding]:
    """Check a stored run; see :func:`checks_of_run`."""
    return [finding for check in checks_of_run(folder, sessions) for finding in check.findings]
