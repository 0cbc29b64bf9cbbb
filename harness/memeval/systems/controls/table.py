"""The controls. Each is one adapter file beside this one, or in the folder of the benchmark that brings it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from memeval.records.base import Record, Slug
from memeval.records.run import View
from memeval.toml import read_toml

NATIVE = "native"

EXTRACTIVE = "extractive"
"""The offline reader answers from the context the system gives."""

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Control:
    slug: str
    title: str
    calibrates: str
    """What its score says about a track."""
    filename: str
    class_name: str
    readers: tuple[str, ...]
    """The readers it runs under; the first is its default. None for a control that only searches banks of texts."""
    gains_in: str
    view: View = View.ALL
    folder: Path = HERE
    reads: tuple[str, ...] = ()
    """The other files that it reads, by their paths in ``folder``."""
    benchmark: str | None = None
    """The id of the only benchmark it is for; ``None`` for a control of every benchmark."""
    is_simple: bool = False
    """Whether a control of one benchmark knows nothing of its sentences and answers, so that systems are compared with
    it."""
    stores: bool = False
    """Whether it has a storage folder."""

    @property
    def does(self) -> str:
        """What it does: the first sentence of ``calibrates``."""
        return f"{self.calibrates.partition('. ')[0]}."

    @property
    def file(self) -> Path:
        return self.folder / self.filename

    @property
    def files(self) -> dict[str, Path]:
        """The adapter file and the files that it reads, by their paths in ``folder``."""
        return {name: self.folder / name for name in (self.filename, *self.reads)}


_TABLE = (
    Control(
        "no-memory",
        "No memory",
        "Keeps nothing and answers nothing. It shows the score of no memory; every system must beat it.",
        "no_memory.py",
        "NoMemory",
        (NATIVE, EXTRACTIVE),
        "Nowhere.",
    ),
    Control(
        "placebo",
        "Placebo",
        "Returns plausible sentences about invented people and things, and nothing of what it was given. It shows the "
        "score of text that only looks like memories.",
        "placebo.py",
        "Placebo",
        (EXTRACTIVE, NATIVE),
        "Nowhere, except by chance where options or parts of the question count.",
    ),
    Control(
        "full-context",
        "Full context",
        "Gives the reader the whole history. It shows the score without any selection.",
        "full_context.py",
        "FullContext",
        (EXTRACTIVE,),
        "Wherever one line answers the question; its context grows with the history.",
    ),
    Control(
        "recency-window",
        "Recency window",
        "Remembers only the last few turns. It shows how many answers recent talk gives away.",
        "recency_window.py",
        "RecencyWindow",
        (EXTRACTIVE,),
        "Short histories and current values; not facts buried under later talk, nor past values.",
    ),
    Control(
        "bm25",
        "BM25",
        "Retrieves turns by word matching (Okapi BM25). A memory system should do better.",
        "bm25.py",
        "BM25",
        (EXTRACTIVE,),
        "Questions that share words with what was said, however much noise lies around it.",
    ),
    Control(
        "file-grep",
        "Text files and grep",
        "Keeps the history in text files and searches them for the words of the question, as an agent does with grep. "
        "A memory product should do better than this: it costs nothing.",
        "file_grep.py",
        "FileGrep",
        (EXTRACTIVE,),
        "Questions that share words with what was said; it keeps users apart and deletes what it is asked to delete.",
    ),
    Control(
        "bm25-texts",
        "BM25, texts",
        "Retrieves single texts of a bank by word matching, as BM25 does with turns. A memory system should do better.",
        "bm25_texts.py",
        "BM25Texts",
        (),
        "Searches that share words with a text; it keeps to the bank, tags and time that are asked for.",
        reads=("bm25.py",),
    ),
    Control(
        "top-1",
        "Best text alone",
        "Returns one text for every search, the best of BM25. It shows what a metric gives for leaving out the rest.",
        "top_one.py",
        "TopOne",
        (),
        "Searches that expect one text; not those that expect several or none.",
        reads=("bm25_texts.py", "bm25.py"),
    ),
    Control(
        "oracle",
        "Oracle evidence",
        "Gives the reader only the sessions that hold the evidence. It shows the best score that retrieval can reach "
        "with this reader.",
        "full_context.py",
        "FullContext",
        (EXTRACTIVE,),
        "At least as high as full context in every category.",
        view=View.EVIDENCE,
    ),
    Control(
        "expected-turns",
        "Expected turns",
        "Returns exactly the turns that the answer key names, the newest first. It shows the best score that a search "
        "can reach.",
        "expected_turns.py",
        "ExpectedTurns",
        (EXTRACTIVE,),
        "Searches whose key names turns; there it should reach 100.",
        view=View.TURNS,
    ),
    Control(
        "first-stated",
        "First stated",
        "Answers with the earliest user sentence that best matches the question. It never updates a fact.",
        "first_stated.py",
        "FirstStated",
        (NATIVE,),
        "Past values and facts that never change; not current values of what did.",
    ),
    Control(
        "last-stated",
        "Last stated",
        "Answers with the latest user sentence that best matches the question. It knows current facts only.",
        "last_stated.py",
        "LastStated",
        (NATIVE,),
        "Current values; not past ones.",
    ),
    Control(
        "echo-question",
        "Echo of the question",
        "Repeats the question as its answer. Any score above zero means that the grader accepts words of the question.",
        "echo_question.py",
        "EchoQuestion",
        (NATIVE,),
        "Nowhere, unless a grader is fooled.",
    ),
    Control(
        "always-hedge",
        "Always hedge",
        "Always answers that it is not sure. It shows the score of doubt without memory.",
        "always_hedge.py",
        "AlwaysHedge",
        (NATIVE,),
        "Items in which doubt is correct; not the control items, in which doubt is wrong.",
    ),
    Control(
        "always-hedge-shrinking",
        "Always hedge, shrinking counter",
        "Always answers that it is not sure, and reports falling, false token counts. It shows what both gain.",
        "always_hedge_shrinking.py",
        "AlwaysHedgeShrinking",
        (NATIVE,),
        "As always-hedge, and context efficiency where a grader believes the system's own counter.",
    ),
    Control(
        "judge-injection",
        "Judge injection",
        "Answers with instructions to the judge. Any score above zero means that the judge can be manipulated.",
        "judge_injection.py",
        "JudgeInjection",
        (NATIVE,),
        "Nowhere, unless a judge obeys.",
    ),
    Control(
        "always-error",
        "Always error",
        "Fails on every question. It shows that errors count as wrong and are not ranked.",
        "always_error.py",
        "AlwaysError",
        (NATIVE,),
        "Nowhere.",
    ),
)

CONTROLS: dict[str, Control] = {control.slug: control for control in _TABLE}


GROUP = "memeval.benchmarks"

FILENAME = "controls.toml"


class BroughtControl(Record):
    """A control for one benchmark; see :class:`Control`. Paths are relative to the benchmark's folder."""

    slug: Slug
    title: str
    calibrates: str
    """What its score says about a track."""
    file: str
    class_name: str
    readers: tuple[str, ...]
    """The readers it runs under; the first is its default."""
    gains_in: str
    reads: tuple[str, ...] = ()
    """Other files that it reads, all of them in the benchmark's package."""
    is_simple: bool = False
    """Whether it knows nothing of the benchmark's sentences and answers, so that systems are compared with it."""
    stores: bool = False
    """Whether it has a storage folder."""


class BroughtControls(Record):
    schema_version: int = 1
    controls: tuple[BroughtControl, ...]


@cache
def all_controls() -> dict[str, Control]:
    """Return the controls of every benchmark and those of single benchmarks by slug; the first of a name counts.

    Raises:
        BadInput: a table is not valid.
    """
    found = dict(CONTROLS)
    for entry in entry_points(group=GROUP):
        for control in _brought(entry):
            found.setdefault(control.slug, control)
    return found


def controls_of(benchmark_id: str) -> dict[str, Control]:
    return {slug: each for slug, each in all_controls().items() if each.benchmark in (None, benchmark_id)}


def _brought(entry: EntryPoint) -> Iterator[Control]:
    top, *inside = entry.module.split(".")
    spec = importlib.util.find_spec(top)
    for package in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        folder = package.joinpath(*inside)
        if not (folder / FILENAME).is_file():
            continue
        for each in read_toml(folder / FILENAME).record(BroughtControls).controls:
            filename, *reads = (
                Path(os.path.normpath(folder / name)).relative_to(package).as_posix()
                for name in (each.file, *each.reads)
            )
            described = each.model_dump(exclude={"file", "reads"})
            yield Control(filename=filename, folder=package, reads=tuple(reads), benchmark=entry.name, **described)
