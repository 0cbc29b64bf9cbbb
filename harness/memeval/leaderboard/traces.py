"""Runs whose responses repeat those of another run: under another name, or as a repetition with other clocks.

Honest runs of different systems hardly share a response: retrieved texts, scores and context tokens differ. Honest
repetitions share responses, but never durations. Both are measured here, from the stored rows alone.

Not found: durations that a forger draws anew, and responses of which each was changed in answer and retrieved texts.
"""

import hashlib
import json
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.execution.readers import NATIVE
from memeval.records.base import Digest, digest_of
from memeval.records.errors import MemevalError
from memeval.records.response import Response
from memeval.records.run import Run, SystemKind
from memeval.statistics.flips import Places

FEWEST = 10

SELDOM = 2

COPIED = 0.5
"""A run is a copy if at least this share of its responses equals another system's, with what was retrieved."""

ALIKE = 0.95
"""The share at which responses without anything retrieved are copies, and at which equal texts are marked."""

JITTER = 0.001
"""Typical relative difference between the durations of a run and its copy; honest repetitions differ by over 1 %."""

FEWEST_DURATIONS = 20

Durations = dict[tuple[str, int, str], float]
"""Seconds by question, attempt and start; the start tells carried-over rows apart."""

DURATIONS = ("ask_seconds", "search_seconds", "read_seconds", "take_in_seconds", "settle_seconds")


_durations = attrgetter(*DURATIONS)

Seconds = tuple[float | None, ...]
"""Durations in the order of :data:`DURATIONS`; a clock has only those that are there."""


@dataclass(frozen=True)
class Repeats:
    original: Run
    equal: int
    compared: int
    is_copy: bool
    """Whether honest systems cannot agree like this; else only the texts are equal, not scores and clocks."""


_ROW = np.dtype([("whole", "<u8"), ("clock", "<u8"), ("text", "<u8"), ("retrieved", "?")])
"""The comparable parts of one response. Each number is a hash of the question and of something that other runs may
share: ``whole`` of all but ids, clocks and what the system reports of itself; ``clock`` of the durations, 0 without any
or if the run has them twice, as with a coarse clock; ``text`` of answer and retrieved texts, 0 if equal texts are no
sign of a copy."""

Rows = npt.NDArray[np.void]


class Trace:
    """What can be compared of a run's responses.

    ``responses``: its responses; ``None`` to read them when they are needed. ``keeps``: whether what an earlier build
    found may be used, for the same ``run.json``. ``packed``: what :meth:`Traces.read` returned for the run; ``None`` to
    read the responses. Raises ``BadInput`` if the responses cannot be read.
    """

    def __init__(
        self,
        folder: RunFolder,
        responses: Iterable[Response] | None = None,
        keeps: bool = False,
        packed: bytes | None = None,
    ) -> None:
        self.folder, self.run, self.keeps, self._packed = folder, folder.run, keeps, packed
        if responses is not None:
            self._read = _comparable(self.run, responses)

    @property
    def rows(self) -> Rows:
        """The last telling response to each question.

        A response tells systems apart if something was retrieved, or if the run gives its answer seldom: answers such
        as "yes", "B" or "I do not know" are equal by chance. Exports of texts as they were ingested tell nothing.
        """
        return self._read[0]

    @cached_property
    def durations(self) -> dict[str, Durations]:
        found: dict[str, Durations] = {phase: {} for phase in DURATIONS}
        for question, attempt, started, clock in json.loads(self._read[1]):
            for phase, seconds in zip(DURATIONS, clock, strict=True):
                if seconds:  # a thousand runs share their questions, so each id is in memory once
                    found[phase][sys.intern(question), attempt, started] = seconds
        return found

    @cached_property
    def _read(self) -> tuple[Rows, bytes]:
        if self._packed is not None:
            return _from_bytes(zlib.decompress(self._packed))
        if not self.keeps:
            return _comparable(self.run, self.folder.responses())
        return _from_bytes(
            kept(self.folder, "trace", "", lambda: _to_bytes(*_comparable(self.run, self.folder.responses())))
        )


def _comparable(run: Run, responses: Iterable[Response]) -> tuple[Rows, bytes]:
    """Return the telling responses of a run, and all its clocks as JSON: most boards need few of them."""
    native, exports = run.track.reader == NATIVE, _exports(run)
    answered: dict[str, tuple[Response, Seconds]] = {}
    clocks = []
    for response in responses:
        seconds = _durations(response.timings)
        clocks.append([response.question_id, response.attempt, response.timings.started, seconds])
        tells = response.answer.strip() or (response.items and not (exports and _is_verbatim(response)))
        if tells and not response.outcome.is_error:
            answered[response.question_id] = response, seconds
    times = Counter(response.answer for response, _ in answered.values())
    telling = [
        (response, tuple(filter(None, seconds)))
        for response, seconds in answered.values()
        if _retrieved(response) or times[response.answer] <= SELDOM
    ]
    often = Counter(clock for _, clock in telling)
    rows = [
        _row(response, native, times[response.answer] <= SELDOM, clock if often[clock] == 1 else ())
        for response, clock in telling
    ]
    return np.array(rows, dtype=_ROW), json.dumps(clocks, separators=(",", ":")).encode()


def _exports(run: Run) -> bool:
    try:
        protocols = find(run.track.benchmark).info.protocols
    except MemevalError:
        return False
    return any(each.name == run.track.protocol and "export_memories" in each.needs for each in protocols)


def _is_verbatim(response: Response) -> bool:
    """Return whether all items are ingested texts as they are, without scores: exports of all such stores are equal."""
    return all(item.turn_id is not None and item.score is None for item in response.items or ())


def _to_bytes(rows: Rows, clocks: bytes) -> bytes:
    return b"%d\n" % len(rows) + rows.tobytes() + clocks


def _from_bytes(content: bytes) -> tuple[Rows, bytes]:
    count, _, rest = content.partition(b"\n")
    end = int(count) * _ROW.itemsize
    return np.frombuffer(rest[:end], dtype=_ROW), rest[end:]


class Traces:
    """The traces of runs, each made once for all boards that compare it.

    ``keeps``: whether what an earlier build found may be used. What decides about a run reads its rows.
    """

    def __init__(self, keeps: bool = False) -> None:
        self.keeps = keeps
        self._made: dict[tuple[Path, Digest], Trace] = {}

    @staticmethod
    def read(folder: RunFolder, responses: Iterable[Response]) -> bytes:
        """Return what can be compared of a run whose responses were read just now, for :meth:`keep`."""
        return zlib.compress(_to_bytes(*_comparable(folder.run, responses)), 1)

    def keep(self, folder: RunFolder, found: bytes) -> None:
        """Keep what :meth:`read` returned. It stays packed until a board compares the run."""
        self._made[folder.path.resolve(), folder.digest] = Trace(folder, packed=found)

    def of(self, folder: RunFolder) -> Trace:
        return self._made.setdefault((folder.path.resolve(), folder.digest), Trace(folder, keeps=self.keeps))


def _row(response: Response, native: bool, seldom: bool, clock: Seconds) -> tuple[int, int, int, bool]:
    question, answer, items = response.question_id, response.answer, response.items or ()
    # The digest of a context covers the retrieved texts.
    texts: object = response.context_digest or tuple((item.turn_id, item.text) for item in items)
    sources = tuple((item.source_ids, _rounded(item.score)) for item in items)
    text: object = answer if native and seldom and answer.strip() else texts
    return (
        _hash((question, answer, response.context_tokens, texts, sources)),
        _hash((question, clock)) if clock else 0,
        _hash((question, text)) if text else 0,
        _retrieved(response),
    )


def _rounded(score: float | None) -> float | None:
    """Return a score as runs store it, in six decimals: a copy may have more, and -0.0 is 0.0."""
    return None if score is None else round(score, 6) + 0.0


def _hash(value: object) -> int:
    """Return a hash that is equal in every process."""
    data = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _retrieved(response: Response) -> bool:
    return bool(response.items or response.context_tokens)


def repeats(traces: Sequence[Trace]) -> dict[Path, Repeats]:
    """Return the runs that repeat responses of another system, by folder.

    A response belongs to the run that had it first. ``traces``: runs over the same questions with the same reader,
    those that were there first before the others.
    """
    rows = np.concatenate([np.empty(0, _ROW), *(trace.rows for trace in traces)])
    places = np.repeat(np.arange(len(traces)), [len(trace.rows) for trace in traces])
    whole, clock, text = (_first(rows[name], places) for name in ("whole", "clock", "text"))
    clock = np.where(clock < 0, whole, clock)
    both = np.concatenate([places, places[clock != whole]]), np.concatenate([whole, clock[clock != whole]])
    by_whole, by_text = _counts(*both), _counts(places[text >= 0], text[text >= 0])
    found: dict[Path, Repeats] = {}
    for place, trace in enumerate(traces):
        if trace.run.system.kind is SystemKind.CONTROL or len(trace.rows) < FEWEST:
            continue
        needed = COPIED if trace.rows["retrieved"].sum() >= len(trace.rows) / 2 else ALIKE
        for counts, share, is_copy in ((by_whole, needed, True), (by_text, ALIKE, False)):
            others = [each for each in counts[place] if _submission(traces[each[1]].run) != _submission(trace.run)]
            if others and max(others)[0] >= share * len(trace.rows):
                equal, number = max(others)
                is_copy = is_copy or has_scaled_clocks(traces[number], trace)
                found[trace.folder.path] = Repeats(traces[number].run, equal, len(trace.rows), is_copy)
                break
    return found


def _first(keys: npt.NDArray[np.uint64], places: Places) -> Places:
    _keys, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return np.where(keys == 0, -1, places[index][inverse])


def _counts(places: Places, others: Places) -> Mapping[int, list[tuple[int, int]]]:
    """Return by run how many rows it shares with which others: pairs of number and place."""
    width = int(others.max(initial=0)) + 1
    pairs, counts = np.unique(places * width + others, return_counts=True)  # of numbers, ten times as fast as of pairs
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        found[pair // width].append((count, pair % width))
    return found


def _submission(run: Run) -> tuple[bool, str]:
    """Return what tells systems apart; variants of a submission are one system."""
    return run.system.kind is SystemKind.CONTROL, run.system.named.partition(":")[0]


def copied_repetitions(traces: Sequence[Trace]) -> Iterator[tuple[Trace, Trace]]:
    """Yield the runs that are copies of an earlier run of the same system, each after the earlier run.

    ``traces``: as for :func:`repeats`.
    """
    systems: dict[tuple[bool, str], list[Trace]] = defaultdict(list)
    for later in traces:
        members = systems[_submission(later.run)]
        if later.run.system.kind is not SystemKind.CONTROL:
            earlier = _copied_from(members, later)
            if earlier is not None:
                yield earlier, later
        members.append(later)


def _copied_from(earlier: Sequence[Trace], later: Trace) -> Trace | None:
    """Return the first of some runs that another one copies. Found once for the same earlier runs, if it is kept."""

    def made() -> bytes:
        return b"%d" % next((place for place, one in enumerate(earlier) if is_copied(one, later)), -1)

    if not later.keeps:
        place = int(made())
    else:
        place = int(kept(later.folder, "copied", digest_of([one.folder.digest for one in earlier]), made))
    return None if place < 0 else earlier[place]


def is_copied(one: Trace, two: Trace) -> bool:
    """Return whether the durations of two runs are the same, up to a common factor and small changes.

    Regraded runs name the run of their answers, and runs with retried errors carry rows over: both are left out.
    """
    if one.run.answers_from or two.run.answers_from:
        return False
    return has_scaled_clocks(one, two)


def shares_rows(one: Trace, two: Trace) -> bool:
    """Return whether a run carries half of the rows of another one over: then it is no repetition of it."""
    pairs = ((one.durations[phase].keys(), two.durations[phase].keys()) for phase in DURATIONS)
    return any(len(first & second) >= COPIED * len(second) > 0 for first, second in pairs)


def has_scaled_clocks(one: Trace, two: Trace) -> bool:
    """Return whether the durations of one phase of two runs are the same, up to a common factor and small changes."""
    carries_over = bool(one.run.coverage.retried or two.run.coverage.retried)
    return any(_same_durations(one.durations[phase], two.durations[phase], carries_over) for phase in DURATIONS)


def _same_durations(one: Durations, two: Durations, carries_over: bool) -> bool:
    carried = one.keys() & two.keys() if carries_over else set()
    first, second = _without(one, carried), _without(two, carried)
    pairs = [(first[key], second[key]) for key in first.keys() & second.keys()]
    if len({seconds for seconds, _ in pairs}) < FEWEST_DURATIONS:
        return False
    values = np.log(np.abs(np.array(pairs)))
    ratios = values[:, 0] - values[:, 1]
    return bool(np.median(np.abs(ratios - np.median(ratios))) < JITTER)


def _without(durations: Durations, carried: Set[tuple[str, int, str]]) -> dict[tuple[str, int], float]:
    return {key[:2]: seconds for key, seconds in durations.items() if key not in carried}
