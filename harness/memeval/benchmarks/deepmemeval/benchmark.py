"""The benchmark's table: categories, weights, graders, and what is known to be wrong with the data."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.data import locate
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset
from memeval.benchmarks.deepmemeval.released import FULL, read
from memeval.grading.delta import DeltaEfficiency
from memeval.grading.judged import Judged
from memeval.records.benchmark import BenchmarkInfo, Defect, ProtocolInfo, TierInfo
from memeval.records.errors import BadInput
from memeval.records.track import Redistribution

CATEGORIES = (
    Category(
        "belief-update",
        "Belief update",
        weight=0.25,
        items=100,
        grader=Judged(),
        tests="A preference is replaced, once or twice. Does the system answer with what holds now?",
        graded="Right when the answer gives the current value and none that it replaced, even as history.",
    ),
    Category(
        "cascade-propagation",
        "Cascade propagation",
        weight=0.15,
        items=80,
        grader=Judged(),
        tests="A choice rested on another one that has since changed. Does the system notice that it may have fallen?",
        graded="Right when the answer doubts the dependent choice or says that it may be out of date.",
        answerable=False,
    ),
    Category(
        "noise-resistance",
        "Noise resistance",
        weight=0.20,
        items=80,
        grader=Judged(),
        tests="One preference is stated in one of 20 or 40 sessions of small talk. Is it found?",
        graded="Right when the answer gives the preference; other material does no harm unless it is most of the talk.",
    ),
    Category(
        "temporal-belief",
        "Temporal belief",
        weight=0.15,
        items=80,
        grader=Judged(),
        tests="What held in a given month, or before a given change?",
        graded="Right when the answer gives the value of the asked time and no other.",
    ),
    Category(
        "delta-efficiency",
        "Delta efficiency",
        weight=0.10,
        items=80,
        grader=DeltaEfficiency(headline="published"),
        tests="Twenty questions about the same few facts: does the context shrink once they are known?",
        graded="Right when the last fifteen contexts take less than half of the tokens the first five would predict. "
        "Gated: the answers must also hold the facts.",
        answerable=False,
    ),
    Category(
        "uncertainty-abstention",
        "Uncertainty and abstention",
        weight=0.15,
        items=80,
        grader=Judged(),
        tests="A fact's ground has gone and nobody came back to it. Does the system refuse to state it as certain?",
        graded="Right when the answer doubts, adds a caveat, or asks back.",
        answerable=False,
    ),
)

DEFECTS = (
    Defect(
        problem="Hedging on every question earns full marks in two categories: a composite of 30 with no memory at all,"
        " and 40 with a token counter that shrinks.",
        handling="Both are shipped as controls and stand on the board, and every row shows how often it hedges where a"
        " plain answer is right.",
    ),
    Defect(
        problem="Delta efficiency trusts the system's own token counts and never reads the answers.",
        handling="memeval counts tokens itself where the context is returned and marks counts it cannot check. Beside"
        " the published rule it scores a gated one, under which the answers must hold the facts.",
    ),
    Defect(
        problem="The released evaluation takes any reply with the letters of yes in it as a pass, sends error messages"
        " to the judge, and leaves absent categories out of the composite.",
        handling="Replies are read strictly, errors are states of their own and wrong, and a composite with a category"
        " missing is absent.",
    ),
    Defect(
        problem="The released runner holds questions and answers in the process of the system under test.",
        handling="Systems run in another process and see sessions, questions and times only.",
    ),
    Defect(
        problem="Thirty of the eighty delta-efficiency scenarios are copies of others.",
        handling="They count as published; the slice clone: no shows the fifty distinct ones.",
    ),
    Defect(
        problem="Questions name a person, and in 420 scenarios no session does. A system that filters by name finds"
        " nothing.",
        handling="Asked as published. beliefs@1 names its people.",
    ),
    Defect(
        problem="In 64 scenarios the sessions are not in order of their dates.",
        handling="They are taken in as listed, with the dates given.",
    ),
    Defect(
        problem="belief-p024-iac: the last link in the list is not the last by date, and the answer follows the list.",
        handling="Counts as published; the slice errata: none leaves it out.",
    ),
    Defect(
        problem="temporal-p029-framework and temporal-p042-framework ask what came before the last of three tools; the"
        " released answer is the first, not the second.",
        handling="Count as published; the slice errata: none leaves them out.",
    ),
    Defect(
        problem="Four questions ask about a month in which the change took place (temporal-p020-ml_framework,"
        " -p021-analytics, -p025-ml_framework, -p048-iac).",
        handling="Count as published; the slice errata: none leaves them out.",
    ),
    Defect(
        problem="Temporal questions are asked with the exact date, relative ones too, so a store that honours it need"
        " not read the question.",
        handling="Asked as published; the slices asked: explicit and asked: relative are shown apart.",
    ),
    Defect(
        problem="In seven belief-update scenarios about infrastructure the reason given for the current tool names a"
        " tool that it replaced.",
        handling="The offline rules read phrases, so an answer that quotes the reason states both and is wrong. A model"
        " judge may see the difference.",
    ),
    Defect(
        problem="Scenarios of one person share facts and histories: 500 items are far fewer independent ones.",
        handling="Intervals and rank ranges treat all scenarios of a person as one cluster.",
    ),
)

INFO = BenchmarkInfo(
    id="deepmemeval@1",
    title="DeepMemEval",
    summary="Whether a memory keeps up with what changed: current and past beliefs, facts in noise, choices whose"
    " ground has gone, and context that shrinks once it is known. The histories are short: any context window"
    " holds them whole.",
    made="Generated by its authors from templates about the tools of fifty invented people in technology; the file is"
    " read as released.",
    licence="Apache-2.0",
    redistribution=Redistribution.FULL,
    citation="nambok, DeepMemEval, commit 6c13cdf, https://github.com/nambok/DeepMemEval",
    homepage="https://github.com/nambok/DeepMemEval",
    sources=(FULL,),
    protocols=(
        ProtocolInfo(
            name="judge",
            title="Judge",
            summary="Every answer is brought before a judge, which says yes or no.",
            headline="accuracy",
        ),
    ),
    tiers=(TierInfo(name="full", items=500, how="Everything."),),
    categories=tuple(category.info() for category in CATEGORIES),
    alternates={
        "gated": "A saving of context counts only where the answers still hold the facts: half of them early, and late"
        " four fifths of what was held early.",
        "substring": "With a model judge: a first reply with the letters of yes anywhere in it is a pass.",
    },
    defects=DEFECTS,
)


class DeepMemEvalBenchmark(Benchmark):
    """DeepMemEval as released, version 1."""

    info = INFO
    categories = CATEGORIES

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        The sample of ten scenarios opens as well: another digest, and so another track.
        """
        if parameters:
            raise BadInput(f"{INFO.id} is released data and takes no parameters, such as '{next(iter(parameters))}'.")
        return DeepMemEvalDataset(read(locate(INFO, path)))

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a file to open."""
        return locate(INFO, path).is_file()
