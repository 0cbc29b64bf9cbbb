"""Marks: signs on a row that a maintainer should review. They follow from the stored files, and are never typed in.

A mark that honest runs cannot have keeps the run from being ranked until a maintainer reviewed it. Every mark ends with
a review: ``memeval ledger review``.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.archive.trust import holds
from memeval.leaderboard.traces import Repeats, Trace, Traces, copied_repetitions, repeats, shares_rows
from memeval.records.ledger import LedgerEntry, LedgerEvent, Sample
from memeval.records.run import Run, SystemKind, View
from memeval.records.scores import Scores
from memeval.systems.controls import CONTROLS, all_controls

RESPONSES = "responses.jsonl"

NEARLY_ALL = 0.95

WHOLE = 0.99

FEWEST = 20

MOST_WEIGHT = 0.5

BUILT_IN = "The rules or the answers of the benchmark may be built in."

UNCONTROLLED = "No control that could show whether this is easy has a complete run on this track."


class MarkName(StrEnum):
    COPIED_RESPONSES = "copied responses"
    COPIED_RUN = "copied run"
    ALIKE = "same answers as another system"
    ABOVE_ORACLE = "above oracle"
    EQUAL_TO_ORACLE = "equal to oracle"
    HARDLY_ANY_ERRORS = "hardly any errors"
    JUDGE_DISAGREES = "judge disagrees"
    RERUN_DIFFERS = "other answers when run again"
    NOT_ABOVE_NO_MEMORY = "not above no-memory baseline"


BARRING = frozenset({MarkName.COPIED_RESPONSES, MarkName.COPIED_RUN, MarkName.JUDGE_DISAGREES, MarkName.RERUN_DIFFERS})
"""The marks that honest runs do not get: without a review there is no rank."""


@dataclass(frozen=True)
class Mark:
    name: MarkName
    sentence: str

    @property
    def bars(self) -> bool:
        return self.name in BARRING


@dataclass(frozen=True)
class AcrossRuns:
    marks: Mapping[Path, tuple[Mark, ...]]
    copies: Set[frozenset[str]]

    def void(self, entry: LedgerEntry) -> bool:
        return entry.event is LedgerEvent.REPEATED and {entry.run_id, entry.other_run_id} in self.copies


def marks_across(
    folders: Iterable[RunFolder], entries: Sequence[LedgerEntry], traces: Traces | None = None
) -> AcrossRuns:
    """Compare the responses of all runs over the same questions.

    The run that was there first has no mark: controls before others, then runs in the order of their acceptance, then
    of their start. So nobody marks a run by copying it. ``folders``: the runs; those without stored responses are left
    out. ``traces``: what is known of the responses already, and receives what is read. Raises ``BadInput`` if the
    responses of a run cannot be read.
    """
    accepted: dict[str, int] = {}
    for number, entry in enumerate(entries):
        if entry.event is LedgerEvent.ACCEPTED and entry.run_digest is not None:
            accepted.setdefault(entry.run_digest, number)
    groups: dict[tuple[str, str, str], list[RunFolder]] = defaultdict(list)
    for folder in folders:
        track = folder.run.track
        if folder.file(RESPONSES).exists():
            groups[track.benchmark, track.data_digest, track.reader].append(folder)

    def place(folder: RunFolder) -> tuple[bool, float, str, str]:
        run = folder.run
        is_control = run.system.kind is SystemKind.CONTROL
        return not is_control, accepted.get(folder.digest, float("inf")), run.timing.started, run.run_id

    known = traces or Traces()
    marks: dict[Path, tuple[Mark, ...]] = defaultdict(tuple)
    copies: set[frozenset[str]] = set()
    for members in groups.values():
        if len(members) > 1:
            compared = [known.of(folder) for folder in sorted(members, key=place)]
            for path, found in repeats(compared).items():
                marks[path] += (_repeats(found),)
            for earlier, later in copied_repetitions(compared):
                marks[later.folder.path] += (_copied_run(earlier.run),)
                copies.add(frozenset((earlier.run.run_id, later.run.run_id)))
            copies |= _carried(compared, entries)
    return AcrossRuns(marks, copies)


def _carried(traces: Sequence[Trace], entries: Iterable[LedgerEntry]) -> set[frozenset[str]]:
    """Return the pairs that the ledger calls repetitions, although one has the rows of the other."""
    by_id = {trace.run.run_id: trace for trace in traces}
    pairs = ((entry.run_id or "", entry.other_run_id or "") for entry in entries if entry.event is LedgerEvent.REPEATED)
    return {
        frozenset(pair)
        for pair in pairs
        if all(one in by_id for one in pair) and shares_rows(by_id[pair[0]], by_id[pair[1]])
    }


def _repeats(found: Repeats) -> Mark:
    original = f"{found.original.system.slug} (run {found.original.run_id})"
    many = f"{found.equal:,} of {found.compared:,}"
    if found.is_copy:
        return Mark(
            MarkName.COPIED_RESPONSES,
            f"{many} responses equal those of {original}: the same answers, retrieved texts and scores, or the same "
            "durations. Different systems do not agree like this.",
        )
    return Mark(
        MarkName.ALIKE,
        f"Answers and retrieved texts equal those of {original} in {many} responses. The systems may share a part.",
    )


def _copied_run(earlier: Run) -> Mark:
    return Mark(
        MarkName.COPIED_RUN,
        f"Its durations are those of run {earlier.run_id} of the same system, up to a factor. "
        "Durations of an independent run differ.",
    )


def marks_within(run: Run, controls: Sequence[Run]) -> tuple[Mark, ...]:
    """Return the marks of a complete run that its track's controls show.

    ``run``: the run; controls and runs without a composite have no marks.
    """
    composite = run.scores.composite.value
    if run.system.kind is SystemKind.CONTROL or composite is None or not run.coverage.full:
        return ()
    complete = [control for control in controls if control.coverage.full]
    return (*_above_oracle(composite, complete), *_hardly_any_errors(run, complete))


def _above_oracle(composite: float, controls: Sequence[Run]) -> Iterator[Mark]:
    """Yield a mark if a run is not below the oracle. To equal it is no sign where a control without its view does."""
    values = [(control.system.view, control.scores.composite.value or 0.0) for control in controls]
    best = max((value for view, value in values if view is View.ALL), default=0.0)
    for view, oracle in values:
        if view is View.EVIDENCE and (composite > oracle or composite == oracle > best):
            yield Mark(
                MarkName.EQUAL_TO_ORACLE if composite == oracle else MarkName.ABOVE_ORACLE,
                f"The score is {100 * composite:.1f} %. The control that gets only the evidence has "
                f"{100 * oracle:.1f} %.",
            )
            return


def _hardly_any_errors(run: Run, controls: Sequence[Run]) -> Iterator[Mark]:
    """Yield a mark if a run answers most of a track without errors, where no control that sees the same does."""
    controls = [control for control in controls if control.system.view is View.ALL]
    why = BUILT_IN if controls else f"{UNCONTROLLED} {BUILT_IN}"
    easy = {name for control in controls for name in _whole(control.scores)}
    whole = {name: weight for name, weight in _whole(run.scores).items() if name not in easy}
    if sum(whole.values()) >= MOST_WEIGHT:
        yield Mark(
            MarkName.HARDLY_ANY_ERRORS, f"At least {100 * WHOLE:.0f} % are correct in: {', '.join(whole)}. {why}"
        )
        return
    composite = run.scores.composite.value or 0.0
    if composite >= NEARLY_ALL and all((control.scores.composite.value or 0.0) < NEARLY_ALL for control in controls):
        yield Mark(MarkName.HARDLY_ANY_ERRORS, f"The score is {100 * composite:.1f} %. {why}")


def _whole(scores: Scores) -> dict[str, float]:
    return {
        category.name: category.weight
        for category in scores.categories
        if category.tally.planned >= FEWEST and (category.tally.accuracy or 0.0) >= WHOLE
    }


NOT_ABOVE_NO_MEMORY = Mark(
    MarkName.NOT_ABOVE_NO_MEMORY,
    "The run scores no higher than the no-memory control, so it is probably broken. Until a maintainer has "
    "reviewed it, no release can be published.",
)


def marks_of_samples(folder: RunFolder, entries: Iterable[LedgerEntry]) -> Iterator[Mark]:
    """Yield the marks of drawn items that a maintainer asked again, with other results.

    Only the last sample of each kind counts, and none before the last review.
    """
    last: dict[LedgerEvent, Sample] = {}
    for entry in entries:
        if entry.run_digest != folder.digest:
            continue
        if entry.event is LedgerEvent.REVIEWED:
            last.clear()
        elif entry.sample is not None:
            last[entry.event] = entry.sample
    for event, name, again, what in (
        (LedgerEvent.RE_ASKED, MarkName.JUDGE_DISAGREES, "asked the judge", "verdicts"),
        (LedgerEvent.RERUN, MarkName.RERUN_DIFFERS, "ran the system", "answers"),
    ):
        if (sample := last.get(event)) is not None and not holds(sample):
            yield Mark(name, f"A maintainer {again} again: {sample.agreed} of {sample.asked} {what} are equal.")


def is_reviewed(folder: RunFolder, entries: Iterable[LedgerEntry]) -> bool:
    return any(entry.event is LedgerEvent.REVIEWED and entry.run_digest == folder.digest for entry in entries)


def is_general_control(run: Run) -> bool:
    """Return whether a run is of a control for every benchmark, or of one that declares that it is simple.

    Another control of one benchmark may know its sentences or answers, so it is shown, and nothing is compared with it.
    """
    slug = run.system.slug
    if run.system.kind is not SystemKind.CONTROL:
        return False
    return slug in CONTROLS or (slug in all_controls() and all_controls()[slug].is_simple)
