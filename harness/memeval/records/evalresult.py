"""What came of a suite: figures, and every question with what it brought up. A key is there even where it has no value.

Names are those that Astrocyte's documentation of its evaluation gives them, so that its readers find them again.
"""

from __future__ import annotations

from memeval.records.base import Record

Scalar = str | int | float | bool


class RecallReflectGap(Record):
    """How searching and reflecting go together, in questions that are asked both ways."""

    both_hit: int
    """Found, and answered rightly."""
    recall_hit_reflect_miss: int
    """Found, and not answered rightly."""
    recall_miss_reflect_hit: int
    """Not found, and answered rightly all the same."""
    both_miss: int
    """Neither."""


class EvalMetrics(Record):
    """The figures of a suite; ``None`` where nothing was asked that shows one, or nobody knows.

    Means are over the searches or reflections that came back; latencies are milliseconds of single calls.
    """

    recall_precision: float | None = None
    """Relevant texts as a share of the texts that came up: the mean over searches that have an answer."""
    recall_hit_rate: float | None = None
    """Share of them that brought up a relevant text."""
    recall_mrr: float | None = None
    """Mean of 1 over the rank of the first relevant text."""
    recall_ndcg: float | None = None
    """Mean nDCG at the number of items asked for, against the best order of the relevant texts in the store."""
    reflect_accuracy: float | None = None
    """Share of reflections that state all their points, and no forbidden claim."""
    reflect_completeness: float | None = None
    """Mean share of their points that they state."""
    reflect_hallucination_rate: float | None = None
    """Share that make a forbidden claim."""
    retain_latency_p50_ms: float | None = None
    """Of retaining one text."""
    retain_latency_p95_ms: float | None = None
    """Of retaining one text."""
    retain_latency_p99_ms: float | None = None
    """Of retaining one text."""
    recall_latency_p50_ms: float | None = None
    """Of one search."""
    recall_latency_p95_ms: float | None = None
    """Of one search."""
    recall_latency_p99_ms: float | None = None
    """Of one search."""
    reflect_latency_p50_ms: float | None = None
    """Of one reflection."""
    reflect_latency_p95_ms: float | None = None
    """Of one reflection."""
    reflect_latency_p99_ms: float | None = None
    """Of one reflection."""
    e2e_per_question_p50_ms: float | None = None
    """Of a question from asking to its answer, whatever it is."""
    e2e_per_question_p95_ms: float | None = None
    """Of a question from asking to its answer, whatever it is."""
    total_tokens_used: int | None = None
    """Tokens that the system's own model calls took, embeddings among them; ``None`` where nobody counted."""
    total_duration_seconds: float | None = None
    """From the first call to the last reply; judging is not part of it."""
    recall_coverage: float | None = None
    """Share of the searches with an answer that brought up all of it among the first ten."""
    recall_reflect_gap: RecallReflectGap | None = None
    """Over questions that are searched for and reflected on in the same words and bank."""
    abstention_rate_adversarial: float | None = None
    """Share of the searches that nothing answers at which the system held back: the true-rejection rate again."""
    tokens_by_phase: dict[str, int] | None = None
    """Tokens of the system's own model calls, by what it was doing."""
    api_calls_total: int | None = None
    """Its model calls."""
    api_calls_by_endpoint: dict[str, int] | None = None
    """The same by endpoint and kind of call."""
    cost_total_usd: float | None = None
    """Dollars of its model calls."""
    cost_per_question_usd: float | None = None
    """The same by question."""
    error_count_by_type: dict[str, int] | None = None
    """Questions that came to nothing, by their outcome."""
    retry_count: int | None = None
    """Model calls that were sent again."""
    failed_retain_count: int | None = None
    """Texts that could not be retained."""
    recall_at_k: dict[str, float | None] | None = None
    """Relevant texts among the first k, as a share of all: by k."""
    r_precision: float | None = None
    """Precision at as many items as there are relevant texts."""
    true_rejection_rate: float | None = None
    """Share of the searches that nothing answers at which nothing came up."""
    false_positive_hits_mean: float | None = None
    """Items that came up at such a search, on average."""
    filter_leak_rate: float | None = None
    """Hits that break the tags or times of a search, as a share of its hits: the mean over searches with a filter."""
    dedup_rate: float | None = None
    """Share of the hits that bring up the words of another hit again."""
    isolation_violations: int | None = None
    """Hits of another bank than the one that was searched, over all searches."""


class Hit(Record):
    """Something that a search brought up. What goes with it is as it was retained, where the system names the text."""

    text: str
    """Its words."""
    score: float | None = None
    """The system's own score."""
    fact_type: str | None = None
    """What sort of thing it is."""
    metadata: dict[str, Scalar] = {}
    """What went with it."""
    tags: tuple[str, ...] = ()
    """Its tags."""
    occurred_at: str | None = None
    """When it happened."""
    source: str | None = None
    """What the system says it came from."""
    memory_id: str | None = None
    """The suite's id of the text."""
    bank_id: str | None = None
    """The bank it was retained in."""
    retained_at: str | None = None
    """When it was retained; memeval keeps no such times."""


class QueryResult(Record):
    """A question of a suite, and what came of it."""

    id: str
    """The suite's id."""
    category: str
    """Where it counts."""
    query: str
    """What was asked."""
    expected: tuple[str, ...]
    """What should come up, or be stated, in words."""
    expected_ids: tuple[str, ...]
    """The texts that should come up."""
    actual: tuple[Hit, ...]
    """What came up, best first."""
    hit_ids: tuple[str, ...]
    """The texts that came up, each once."""
    answer: str | None
    """What a reflection answered."""
    relevant_found: int
    """How many of the expected texts came up."""
    precision: float | None
    """See :class:`EvalMetrics`."""
    reciprocal_rank: float | None
    """1 over the rank of the first relevant text; 0 where none came up."""
    ndcg: float | None
    """See :class:`EvalMetrics`."""
    recall_at_k: dict[str, float | None]
    """By k."""
    latency_ms: float | None
    """Of the call."""
    state: str
    """What came of grading it."""
    reason: str | None
    """Why it is worth what it is, in a sentence."""


class EvalResult(Record):
    """What came of a suite on a system."""

    schema_version: int = 1
    """Version of this record's schema."""
    suite: str
    """The suite's name, or the path of its file."""
    provider: str
    """The system's class."""
    provider_tier: str
    """``storage`` where the pipeline is part of what is measured, ``engine`` where one engine does it all."""
    timestamp: str
    """When it began, UTC."""
    metrics: EvalMetrics
    """The figures."""
    per_query_results: tuple[QueryResult, ...]
    """Every question, in the order it was asked."""
    config_snapshot: dict[str, object]
    """All that decided the figures, without secrets."""
    notes: tuple[str, ...] = ()
    """What went wrong beside the questions, a sentence each: a bank that could not be forgotten, say."""
