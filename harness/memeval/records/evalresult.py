"""The result of a suite: metrics, and every question with its retrieved texts. Keys without a value are present.

The names are those of Astrocyte's evaluation documentation.
"""

from memeval.records.base import Record

Scalar = str | int | float | bool


class RecallReflectGap(Record):
    """Search results and reflections compared, over questions that are asked both ways."""

    both_hit: int
    """Found, and answered correctly."""
    recall_hit_reflect_miss: int
    """Found, but not answered correctly."""
    recall_miss_reflect_hit: int
    """Not found, but answered correctly."""
    both_miss: int
    """Neither."""


class EvalMetrics(Record):
    """The metrics of a suite; ``None`` if no question measures one, or the value is unknown.

    Means are over the searches or reflections that returned. Latencies are milliseconds of single calls.
    """

    recall_precision: float | None = None
    """Share of relevant texts among the retrieved texts: the mean over searches that have an answer."""
    recall_hit_rate: float | None = None
    """Share of these searches that retrieved a relevant text."""
    recall_mrr: float | None = None
    """Mean of 1 over the rank of the first relevant text."""
    recall_ndcg: float | None = None
    """Mean nDCG at the requested number of items, relative to the best order of the stored relevant texts."""
    reflect_accuracy: float | None = None
    """Share of reflections that state all their points and no forbidden claim."""
    reflect_completeness: float | None = None
    """Mean share of the points that a reflection states."""
    reflect_hallucination_rate: float | None = None
    """Share of reflections with a forbidden claim."""
    retain_latency_p50_ms: float | None = None
    """Latency of retaining one text."""
    retain_latency_p95_ms: float | None = None
    """Latency of retaining one text."""
    retain_latency_p99_ms: float | None = None
    """Latency of retaining one text."""
    recall_latency_p50_ms: float | None = None
    """Latency of one search."""
    recall_latency_p95_ms: float | None = None
    """Latency of one search."""
    recall_latency_p99_ms: float | None = None
    """Latency of one search."""
    reflect_latency_p50_ms: float | None = None
    """Latency of one reflection."""
    reflect_latency_p95_ms: float | None = None
    """Latency of one reflection."""
    reflect_latency_p99_ms: float | None = None
    """Latency of one reflection."""
    e2e_per_question_p50_ms: float | None = None
    """Latency of one question of any kind."""
    e2e_per_question_p95_ms: float | None = None
    """Latency of one question of any kind."""
    total_tokens_used: int | None = None
    """Tokens of the system's model calls, including embeddings; ``None`` if not counted."""
    total_duration_seconds: float | None = None
    """From the first call to the last reply, without judging."""
    recall_coverage: float | None = None
    """Share of searches with an answer that retrieved all relevant texts among the first ten."""
    recall_reflect_gap: RecallReflectGap | None = None
    """Over questions that are both searched and reflected on, with the same words and bank."""
    abstention_rate_adversarial: float | None = None
    """Share of searches without an answer that returned nothing; equal to the true-rejection rate."""
    tokens_by_phase: dict[str, int] | None = None
    """Tokens of the system's model calls, by phase."""
    api_calls_total: int | None = None
    """Its model calls."""
    api_calls_by_endpoint: dict[str, int] | None = None
    """The same by endpoint and kind of call."""
    cost_total_usd: float | None = None
    """Dollars of its model calls."""
    cost_per_question_usd: float | None = None
    """The same by question."""
    error_count_by_type: dict[str, int] | None = None
    """Questions without a result, by outcome."""
    retry_count: int | None = None
    """Model calls that were retried."""
    failed_retain_count: int | None = None
    """Texts that could not be retained."""
    recall_at_k: dict[str, float | None] | None = None
    """Recall by k: share of the relevant texts that are among the first k."""
    r_precision: float | None = None
    """R-precision: precision at k, where k is the number of relevant texts."""
    true_rejection_rate: float | None = None
    """Share of searches without an answer that returned nothing."""
    false_positive_hits_mean: float | None = None
    """Mean number of items that such a search returned."""
    filter_leak_rate: float | None = None
    """Share of hits that violate the tags or times of the search: the mean over searches with a filter."""
    dedup_rate: float | None = None
    """Share of hits that repeat the text of another hit."""
    isolation_violations: int | None = None
    """Number of hits from a bank that was not searched, over all searches."""


class Hit(Record):
    """One retrieved text. Its metadata is as retained, if the system names the text."""

    text: str
    score: float | None = None
    """The system's score."""
    fact_type: str | None = None
    """Its fact type, such as ``world``."""
    metadata: dict[str, Scalar] = {}
    """Its metadata."""
    tags: tuple[str, ...] = ()
    """Its tags."""
    occurred_at: str | None = None
    """Time of the event."""
    source: str | None = None
    """The source that the system reports."""
    memory_id: str | None = None
    """The suite's id of the text."""
    bank_id: str | None = None
    """The bank it was retained in."""
    retained_at: str | None = None
    """When it was retained; always ``None``, since memeval stores no such times."""


class QueryResult(Record):
    """A question of a suite, with its result."""

    id: str
    """The suite's id."""
    category: str
    query: str
    """The question."""
    expected: tuple[str, ...]
    """The expected texts or statements, in words."""
    expected_ids: tuple[str, ...]
    """The expected texts."""
    actual: tuple[Hit, ...]
    """The retrieved texts, best first."""
    hit_ids: tuple[str, ...]
    """The retrieved texts, each once."""
    answer: str | None
    """The answer of a reflection."""
    relevant_found: int
    """Number of expected texts that were retrieved."""
    precision: float | None
    """See :class:`EvalMetrics`."""
    reciprocal_rank: float | None
    """1 over the rank of the first relevant text; 0 if none was retrieved."""
    ndcg: float | None
    """See :class:`EvalMetrics`."""
    recall_at_k: dict[str, float | None]
    """By k."""
    latency_ms: float | None
    """Latency of the call in milliseconds."""
    state: str
    reason: str | None
    """The reason for its grade, in a sentence."""


class EvalResult(Record):
    """The result of a suite on a system."""

    schema_version: int = 1
    suite: str
    """The suite's name, or the path of its file."""
    provider: str
    """The system's class."""
    provider_tier: str
    """``storage`` if the pipeline is measured too, ``engine`` if one engine does everything."""
    timestamp: str
    """Start time, UTC."""
    metrics: EvalMetrics
    """The metrics."""
    per_query_results: tuple[QueryResult, ...]
    """Every question, in the order asked."""
    config_snapshot: dict[str, object]
    """All settings that affect the metrics, without secrets."""
    notes: tuple[str, ...] = ()
    """Other problems, a sentence each, such as a bank that could not be forgotten."""
