"""Run folders for tests of the site, written through the real records. Nothing here was ever measured."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memeval.archive.rows import pack
from memeval.archive.runs import RunFolder
from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.evaluation import summary
from memeval.grading.base import Grader
from memeval.grading.scoring import score
from memeval.keys import ItemKey
from memeval.keys.key import BeliefKey, Fact, NoiseKey
from memeval.records.base import Stored, digest_of
from memeval.records.benchmark import BenchmarkInfo, Defect
from memeval.records.errors import BadInput
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.log import LogLine
from memeval.records.response import Context, ContextPart, Outcome, Response, RetrievedItem, Timings
from memeval.records.run import (
    Cost,
    Coverage,
    FileDigest,
    Harness,
    Inputs,
    Isolation,
    Run,
    SystemIdentity,
    SystemKind,
    Timing,
    View,
)
from memeval.records.scenario import Ask, Scenario, Session, TakeIn, Turn
from memeval.records.track import CategoryPlan, Limits, Redistribution, Track

HOSTILE = "<script>alert(1)</script> {{ config }} [x](javascript:1) ](`</div> &lt; \u202eRTL \x00 🙂"
"""A name that tries every door."""

ITEMS = 30
CATEGORIES = (("belief-update", "Belief update", 0.6), ("noise-resistance", "Noise resistance", 0.4))
SECRET = "zebrafinch"
"""Stands in every text of the benchmark that may have to stay private."""


class NoGrader(Grader):
    """Graders do not run here."""

    name = "test@1"

    def grade(self, *_args: object, **_kwargs: object) -> Grade:
        raise NotImplementedError


@dataclass
class FakeDataset(Dataset):
    """Scenarios with one question each."""

    note: str = SECRET

    def __post_init__(self) -> None:
        self.digest = digest_of(["fake data", self.note])
        self.parameters: Parameters = {}

    def scenarios(self) -> Iterator[Scenario]:
        for item_id, _category in planned():
            day = 1 + int(item_id[-2:])
            sessions = [
                Session(
                    session_id=f"s{n:03}",
                    date=f"2026-01-{day:02}",
                    turns=(
                        Turn(
                            turn_id=f"s{n:03}:t01", role="user", content=f"{self.note}: I moved to town {n} {HOSTILE}."
                        ),
                        Turn(turn_id=f"s{n:03}:t02", role="assistant", content=f"Noted, {self.note}."),
                    ),
                )
                for n in (1, 2, 3)
            ]
            steps = [TakeIn(session=session, source_id=f"source-{session.session_id}") for session in sessions]
            ask = Ask(question_id=f"{item_id}-q", question=f"Where does {self.note} live?", timestamp="2026-03-01")
            yield Scenario(scenario_id=f"sc-{item_id}", steps=(*steps, ask))

    def keys(self) -> Iterator[ItemKey]:
        for item_id, category in planned():
            fact = Fact(text=f"{self.note} lives in town 3.", phrases=(f"{self.note} town 3",))
            key = BeliefKey(current=fact, stale=()) if category == "belief-update" else NoiseKey(reference=fact)
            yield ItemKey(
                item_id=item_id,
                scenario_id=f"sc-{item_id}",
                question_ids=(f"{item_id}-q",),
                category=category,
                cluster=item_id,
                slices={"difficulty": "hard"},
                evidence=("s003",),
                key=key,
            )


@dataclass
class FakeBenchmark(Benchmark):
    """A benchmark that says what it is told to."""

    id: str = "fake@1"
    redistribution: Redistribution = Redistribution.FULL
    absent: bool = False
    homepage: str = "javascript:alert(1)"
    dataset: FakeDataset = field(default_factory=FakeDataset)

    def __post_init__(self) -> None:
        self.categories = tuple(
            Category(name, title, weight, ITEMS, NoGrader(), f"Tests {title}.", "By rule.")
            for name, title, weight in CATEGORIES
        )
        self.info = BenchmarkInfo(
            id=self.id,
            title="Fake benchmark",
            summary="For tests of the site.",
            made="By a factory.",
            licence="CC0-1.0",
            redistribution=self.redistribution,
            citation=None,
            homepage=self.homepage,
            source=None,
            protocols=("judge",),
            tiers=("full",),
            categories=tuple(category.info() for category in self.categories),
            alternates={"published": "As its authors score it."},
            defects=(Defect(problem="It is not real.", handling="It is used in tests alone."),),
        )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        if self.absent:
            raise BadInput("the data of fake@1 is not here.", remedy="Pull it.")
        return self.dataset


def planned() -> list[tuple[str, str]]:
    """Return item ids with their categories, in plan order."""
    return [(f"{name}-{n:02}", name) for name, _title, _weight in CATEGORIES for n in range(ITEMS)]


def track(benchmark: FakeBenchmark, reader: str = "native") -> Track:
    """Return the track of a benchmark."""
    return Track(
        benchmark=benchmark.info.id,
        data_digest=benchmark.dataset.digest,
        protocol="judge",
        tier="full",
        categories=tuple(CategoryPlan(name=n, weight=w, items=ITEMS, grader="test@1") for n, _t, w in CATEGORIES),
        reader=reader,
        judge="rules@1",
        tokenizer="o200k_base",
        limits=Limits(),
    )


@dataclass(frozen=True)
class Made:
    """What a run is to look like."""

    slug: str
    name: str
    skill: float = 0.6
    kind: SystemKind = SystemKind.SUBMISSION
    version: str = "1.0"
    started: str = "2026-11-01T10:00:00+00:00"
    reader: str = "native"
    items: int = 2 * ITEMS
    errors: int = 0
    view: View = View.ALL
    tokens: int | None = 400
    cost: float | None = None
    answer: str = f"{SECRET} lives in town 3. {HOSTILE}"


def make_run(results: Path, made: Made, benchmark: FakeBenchmark) -> RunFolder:
    """Write a sealed run, and return it."""
    dice = random.Random(f"{made.slug} {made.started}")
    where = track(benchmark, made.reader)
    context = Context(
        digest=digest_of(made.slug),
        scenario_id=f"sc-{planned()[0][0]}",
        parts=(ContextPart(turn_id="s003:t01", dated=True), ContextPart(text=f"{SECRET} of my own")),
    )
    responses, grades = [], []
    for number, (item_id, category) in enumerate(planned()[: made.items]):
        failed = number < made.errors
        verdict = dice.random() < made.skill
        responses.append(_response(made, item_id, failed, context))
        grades.append(
            Grade(
                item_id=item_id,
                category=category,
                cluster=f"c{number % 10}",
                slices={"difficulty": "hard" if number % 2 else "plain"},
                grader="test@1",
                state=GradeState.TIMEOUT if failed else GradeState.GRADED,
                verdict=None if failed else verdict,
                reason=None if failed else f"States {SECRET}.",
                flags=(Flag.HEDGED,) if number % 7 == 0 else (),
                alternates={"published": verdict or number % 5 == 0},
            )
        )
    identity = SystemIdentity(
        slug=made.slug,
        name=made.name,
        version=made.version,
        kind=made.kind,
        adapter_class="Adapter",
        submission_digest=digest_of(made.slug),
        environment_digest=digest_of("environment"),
        view=made.view,
        capabilities=("search",),
        parameters={"k": 5},
    )
    inputs = Inputs(
        track=where,
        submission_digest=identity.submission_digest,
        environment_digest=identity.environment_digest,
        parameters=identity.parameters,
        view=made.view,
    )
    stamp = made.started[:19].replace("-", "").replace(":", "")
    run_id = f"{stamp}-{inputs.fingerprint[:8]}"
    folder = results / benchmark.info.id.partition("@")[0] / made.slug / run_id
    folder.mkdir(parents=True)
    log = [
        LogLine(at=made.started, event="started"),
        LogLine(at=made.started, event="stderr", detail=f"{SECRET} </code>{HOSTILE}"),
    ]
    files = _write(folder, {"responses": responses, "contexts": [context], "grades": grades, "log": log})
    run = Run(
        run_id=run_id,
        fingerprint=inputs.fingerprint,
        track_id=where.id,
        track=where,
        system=identity,
        redistribution=benchmark.info.redistribution,
        isolation=Isolation.FILES_REACHABLE,
        harness=Harness(
            version="0.1.0",
            commit="0" * 40,
            dirty=True,
            python="3.11.2",
            platform="Linux x86_64",
            packages={"numpy": "2.3.4"},
            argv=("memeval", "run", made.slug),
        ),
        seeds={"hash": 42},
        timing=Timing(started=made.started, ended=made.started, concurrency=4, phases=summary.phases(responses)),
        tokens=summary.tokens(responses),
        cost=Cost(usd=made.cost, reason=None if made.cost is not None else "no price is known"),
        coverage=Coverage(planned=where.planned, done=len(grades)),
        scores=score(where.categories, grades),
        files=files,
    )
    (folder / "run.json").write_text(json.dumps(run.data(), sort_keys=True, ensure_ascii=False, indent=1) + "\n")
    return RunFolder(folder)


def _response(made: Made, item_id: str, failed: bool, context: Context) -> Response:
    return Response(
        item_id=item_id,
        scenario_id=f"sc-{item_id}",
        question_id=f"{item_id}-q",
        outcome=Outcome.TIMEOUT if failed else Outcome.OK,
        answer="" if failed else made.answer,
        error=f"no reply about {SECRET}" if failed else None,
        items=(
            RetrievedItem(turn_id="s003:t01", source_ids=("s003",), score=0.9),
            RetrievedItem(text=f"{SECRET} rewritten", source_ids=("s001",)),
        ),
        context_digest=context.digest,
        context_tokens=made.tokens,
        timings=Timings(
            started=made.started, ask_seconds=0.02, read_seconds=0.001, take_in_seconds=0.03, take_in_sessions=3
        ),
    )


def _write(folder: Path, rows: dict[str, Sequence[Stored]]) -> dict[str, FileDigest]:
    files = {}
    for name, records in rows.items():
        data, files[f"{name}.jsonl"] = pack(records)
        (folder / f"{name}.jsonl.gz").write_bytes(data)
    return files


BOARD = (
    Made("acme", "Acme Memory", 0.86, tokens=812, cost=1.25),
    Made("acme", "Acme Memory", 0.7, version="0.9", started="2026-10-01T10:00:00+00:00", tokens=1400, cost=2.5),
    Made("borealis", "Borealis", 0.8, tokens=2210),
    Made("hostile", HOSTILE, 0.5, version="{{ 7*7 }}<b>", tokens=600),
    Made("halfway", "Halfway", 0.9, items=41, tokens=500),
    Made("shaky", "Shaky", 0.75, errors=4, tokens=None),
    Made("full-context", "Full context", 0.78, SystemKind.CONTROL, tokens=9800, cost=0.0),
    Made("oracle-evidence", "Oracle evidence", 0.95, SystemKind.CONTROL, view=View.EVIDENCE, tokens=300, cost=0.0),
    Made("no-memory", "No memory", 0.08, SystemKind.CONTROL, tokens=0, cost=0.0),
    Made("bm25", "BM25", 0.6, SystemKind.CONTROL, reader="extractive@1", tokens=450, cost=0.0),
    Made("acme", "Acme Memory", 0.72, reader="extractive@1", started="2026-11-02T10:00:00+00:00", tokens=420),
)


def make_board(results: Path, benchmark: FakeBenchmark, board: Sequence[Made] = BOARD) -> list[RunFolder]:
    """Write a whole board, and return its runs in the order given."""
    results.mkdir(parents=True, exist_ok=True)
    return [make_run(results, made, benchmark) for made in board]
