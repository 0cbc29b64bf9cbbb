"""The columns of the data frames of :mod:`memeval.leaderboard.frames`, with their types and meanings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memeval.exchange.parquet import Kind

PANDAS: Mapping[Kind, str] = {
    Kind.TEXT: "str",
    Kind.REPEATED: "category",
    Kind.FLAG: "boolean",
    Kind.NUMBER: "float64",
    Kind.WHOLE: "Int64",
    Kind.TIME: "datetime64[us, UTC]",
}


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    """What it holds, in one sentence. Unknown values are missing, never 0."""


def _of(kind: Kind, **meanings: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind, meaning) for name, meaning in meanings.items())


_RUN = _of(Kind.TEXT, run_id="Id of the run.")

_SYSTEM = _of(
    Kind.TEXT,
    system="The system's name in paths: its slug.",
    system_kind="control, submission, file or imported.",
    version="The system's version.",
)

_TRACK = _of(
    Kind.TEXT,
    benchmark="Benchmark and version.",
    track_id="Id of the track. Scores are comparable only within a track.",
)

LEDGER = (
    *_of(Kind.TEXT, state="current, superseded or invalidated, from the ledger."),
    *_of(Kind.FLAG, accepted="Whether a maintainer accepted the run with its current bytes."),
    *_of(Kind.TEXT, grade_trust="Trust in the grades.", answer_trust="Trust in the answers."),
)
"""Columns of ``runs`` that depend on the ledger; they are never cached."""

RUNS = (
    *_RUN,
    *_of(Kind.TEXT, run_digest="Digest of run.json.", path="The run's folder, relative to the results folder."),
    *_SYSTEM,
    *_of(
        Kind.TEXT,
        system_name="The system's name for people.",
        variant="Name of the variant of the submission.",
        configuration="Product, version and settings that ran, for people; empty if not stated.",
    ),
    *_of(Kind.FLAG, mock="Whether a stand-in replaces a part that the product needs. A mock is never ranked."),
    *_TRACK,
    *_of(
        Kind.TEXT,
        data_digest="Digest of the benchmark's data.",
        parameters="Parameters of a generated benchmark, as JSON.",
        protocol="How questions are asked and graded.",
        tier="Subset or size of the data.",
        reader="Who writes the answers: native (the system), or a reader with its version.",
        reader_endpoint="Base URL of a model reader.",
        judge="The judge with its version.",
        judge_endpoint="Base URL of a model judge.",
        judge_label="Who serves the judge, if not its maker.",
        tokenizer="The tokenizer for context tokens.",
        errata_digest="Digest of the errata.",
        sample_digest="Digest of the ids of the items, if the tier is a sample.",
    ),
    *_of(Kind.TIME, started="Start of the run, UTC.", ended="End of the run, UTC."),
    *_of(
        Kind.WHOLE,
        concurrency="Questions in flight at the same time.",
        planned="Planned items.",
        done="Items with a grade.",
        errors="Items without a verdict.",
    ),
    *_of(Kind.FLAG, complete="Whether every planned item has a grade."),
    *_of(
        Kind.NUMBER,
        error_rate="errors / planned.",
        composite="Composite score in [0, 1].",
        composite_low="Lower end of its 95 % interval.",
        composite_high="Upper end of its 95 % interval.",
        accuracy="Accuracy over all planned items, unweighted.",
        accuracy_low="Lower end of its 95 % interval.",
        accuracy_high="Upper end of its 95 % interval.",
        graded_accuracy="Accuracy, errors excluded.",
        false_hedge_rate="Share of hedged answers to questions with a plain answer.",
        tokens_per_question="Mean context tokens per question.",
    ),
    *_of(Kind.TEXT, tokens_source="measured, self-reported or none."),
    *_of(
        Kind.WHOLE,
        prompt_tokens="Tokens sent to models in the calls of this run.",
        completion_tokens="Tokens received from models in the calls of this run.",
    ),
    *_of(Kind.NUMBER, cost_usd="Cost of the run in dollars."),
    *_of(
        Kind.TEXT,
        cost_reason="Why the cost is unknown, or what it excludes.",
        prices="The dated price list behind the cost.",
    ),
    *_of(
        Kind.NUMBER,
        ask_p50_seconds="Median answer latency in seconds; of the search if a reader writes the answers.",
        ask_p95_seconds="95th percentile of the answer latency in seconds.",
        ingest_p50_seconds="Median ingest latency of a session in seconds.",
        ingest_p95_seconds="95th percentile of the ingest latency of a session in seconds.",
    ),
    *_of(
        Kind.TEXT,
        isolation="What the system could reach: sandboxed, files reachable or made elsewhere.",
        network="Network access of the system.",
        submission_digest="Digest of the system's files.",
        environment_digest="Digest of the system's interpreter, packages and services.",
        answers_from="The run whose answers another judge graded here.",
        memeval_version="Version of memeval.",
        memeval_commit="Commit of memeval.",
    ),
    *_of(Kind.FLAG, replayed="Whether the record answered all model calls."),
    *LEDGER,
)

CATEGORIES = (
    *_RUN,
    *_SYSTEM,
    *_TRACK,
    *_of(Kind.TEXT, category="The category.", grader="Grader of the category, with its version."),
    *_of(
        Kind.NUMBER,
        weight="Weight in the composite; the weights of a benchmark sum to 1.",
        score="Accuracy over all planned items; failed or missing answers count as wrong.",
        low="Lower end of its 95 % interval.",
        high="Upper end of its 95 % interval.",
        graded_score="Accuracy, errors excluded.",
    ),
    *_of(
        Kind.WHOLE,
        n="Planned items: the denominator of the score.",
        done="Items with a grade.",
        correct="Correct items; with partial credit, items with full credit.",
        errors="Items without a verdict.",
    ),
)

TRENDS = (
    *_SYSTEM,
    *_TRACK,
    *_of(
        Kind.TEXT,
        package="The package whose version ran; missing if unknown.",
        released="Date of the release, ISO 8601; missing if unknown.",
        measure="composite, category_NAME, tokens_per_question, cost_usd, search_ratio or ingest_ratio.",
        unit="share, tokens, dollars or times.",
    ),
    *_of(Kind.WHOLE, point="Number of the version in its series, from 1."),
    *_of(
        Kind.NUMBER,
        value="The value: a share in [0, 1], tokens, dollars, or times as much as the control bm25.",
        low="Lower end of its 95 % interval; missing for measures without one.",
        high="Upper end of its 95 % interval; missing for measures without one.",
    ),
    *_of(
        Kind.TEXT,
        note="Why there is no value, such as the reason why a version did not run.",
        run_id="Id of the run; missing if the version did not run.",
    ),
    *_of(Kind.WHOLE, runs="Number of runs of the version. The first of them counts."),
    *_of(Kind.TEXT, **{"break": "What changed before, so that values on both sides are not comparable."}),
)


ITEMS = (
    *(replace(each, kind=Kind.REPEATED) for each in (*_RUN, *_SYSTEM, *_TRACK)),
    *_of(
        Kind.REPEATED,
        item_id="The item.",
        category="The category of the item.",
        cluster="Cluster of the item, such as a person. Items of one cluster are not independent.",
        grader="Name and version of the grader.",
        state="State of the grade, such as graded, empty or timeout.",
    ),
    *_of(
        Kind.NUMBER,
        score="Credit in [0, 1]; 0 for a wrong, failed or blank answer.",
        value="The measured value behind the verdict.",
    ),
    *_of(Kind.FLAG, error="Whether there is no verdict: the system, its reader or the judge failed."),
    *_of(Kind.REPEATED, flags="Warnings about the grade, separated by blanks."),
    *_of(
        Kind.WHOLE,
        questions="Questions of the item that have a response.",
        attempts="Attempts at the question that took most of them.",
        context_tokens="Context tokens counted by memeval, summed over the questions.",
    ),
    *_of(Kind.NUMBER, reported_tokens="Context tokens that the system reports, summed over the questions."),
    *_of(
        Kind.WHOLE,
        prompt_tokens="Tokens sent to models for the answers, summed over the questions.",
        completion_tokens="Tokens received from models for the answers, summed over the questions.",
    ),
    *_of(
        Kind.NUMBER,
        ask_seconds="Answer latency, summed over the questions; of the search if a reader writes the answers.",
        read_seconds="Time of the reader, summed over the questions.",
        ingest_seconds="Time to ingest the sessions before the questions.",
        settle_seconds="Time to finish indexing before the questions.",
    ),
)
"""Columns of ``Frames.items``: one row for each graded item of each run, in plan order. More columns come last: see
``MORE_ITEMS``."""

MORE_ITEMS = {"metric": Kind.NUMBER, "rule": Kind.NUMBER, "slice": Kind.REPEATED}
"""Columns of ``Frames.items`` that only some runs have, by the start of their name, such as ``slice.difficulty``:
further metrics, the score by other scoring rules, and the slices of the item."""


def kind_of_item_column(name: str) -> Kind:
    return MORE_ITEMS[name.partition(".")[0]]


def names(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]


def kinds(columns: Iterable[Column]) -> dict[str, Kind]:
    return {column.name: column.kind for column in columns}
