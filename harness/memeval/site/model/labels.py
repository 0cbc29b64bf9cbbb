"""What pages call the values and slices that records hold, and how systems of one name are told apart."""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memeval.leaderboard.board import Board, BoardRow, RankStatus
from memeval.records.audit import ProbeKind
from memeval.records.call import Phase
from memeval.records.failure import Cause, EvidenceFound
from memeval.records.grade import Flag, GradeState
from memeval.records.run import ContextSource, Isolation, Network, Run, SystemKind, TokenSource, View
from memeval.records.submission import Product

_LABELS: tuple[tuple[StrEnum, str], ...] = (
    (RankStatus.OVER_ERROR_GATE, "too many errors"),
    (RankStatus.NO_COMPOSITE, "no composite score"),
    (RankStatus.NOTHING_FOUND, "ingested, nothing found"),
    (RankStatus.UNLABELLED_JUDGE, "judge endpoint unlabelled"),
    (RankStatus.PLUMBING, "smoke test"),
    (RankStatus.NOT_THE_VENDOR, "vendor’s service not used"),
    (RankStatus.AWAITING_VENDOR, "waiting for the vendor"),
    (RankStatus.ROWS_ELSEWHERE, "grades not available here"),
    (RankStatus.NO_ANSWERS_RUN, "answers’ run not stored"),
    (Isolation.FILES_REACHABLE, "not sandboxed"),
    (Isolation.ELSEWHERE, "unknown (imported)"),
    (Network.OPEN, "unrestricted"),
    (Network.GATEWAY, "model gateway only"),
    (Network.DECLARED, "declared hosts only"),
    (ContextSource.NONE, "no history"),
    (ContextSource.ORACLE, "evidence sessions only"),
    (ContextSource.FULL_CONTEXT, "whole history"),
    (ContextSource.SEARCH, "retrieved by the system"),
    (ContextSource.ASK, "chosen by the system"),
    (TokenSource.NONE, "not counted"),
    (View.ALL, "all sessions"),
    (View.EVIDENCE, "evidence sessions only"),
    (View.TURNS, "evidence turns only"),
    (SystemKind.CONTROL, "control (built-in baseline)"),
    (SystemKind.FILE, "single Python file"),
    (SystemKind.IMPORTED, "imported answers"),
    (Phase.INGEST, "ingest"),
    (Phase.SETTLE, "indexing"),
    (Phase.ASK, "answer"),
    (Phase.READ, "reader"),
    (GradeState.EMPTY, "empty answer"),
    (GradeState.UNPARSED, "no clear verdict"),
    (GradeState.JUDGE_ERROR, "judge failed"),
    (GradeState.TIMEOUT, "timed out"),
    (GradeState.NOT_READY, "index not ready"),
    (GradeState.ADAPTER_ERROR, "system failed"),
    (GradeState.READER_ERROR, "reader failed"),
    (Flag.CONTEXT_DUMP, "context dump"),
    (Flag.TOKEN_MISMATCH, "token counts differ"),
    (Flag.SELF_REPORTED_TOKENS, "self-reported tokens"),
    (Flag.FILTER_LEAK, "filter ignored"),
    (Flag.OTHER_BANK, "wrong bank"),
    (Cause.ABSTAINED_WRONGLY, "should have answered"),
    (Cause.ANSWERED_WRONGLY, "should have abstained"),
    (Cause.BROKE_THE_FILTER, "filter ignored"),
    (Cause.RETRIEVED_TOO_LOW, "evidence ranked too low"),
    (EvidenceFound.ALL, "all evidence"),
    (EvidenceFound.SOME, "some evidence"),
    (EvidenceFound.NONE, "no evidence"),
    (EvidenceFound.UNKNOWN, "not known"),
    (ProbeKind.RIGHT, "correct"),
    (ProbeKind.OFF, "off topic"),
    (ProbeKind.STALE, "stale (outdated)"),
    (ProbeKind.REFUSED, "refused to answer"),
    (ProbeKind.MIXED, "correct plus wrong"),
    (ProbeKind.INJECTED_ORDER, "injected instruction"),
    (ProbeKind.INJECTED_FENCE, "injected delimiter"),
    (ProbeKind.INJECTED_VERDICT, "injected verdict"),
)
_BY_KIND = {(type(value), value.value): title for value, title in _LABELS}
"""By enum and value: values of two enums may be spelled alike."""


def label(value: StrEnum) -> str:
    return _BY_KIND.get((type(value), value.value), value.value)


VALUE_LABELS = {
    "causes": {value.value: label(value) for value in Cause},
    "flags": {value.value: label(value) for value in Flag},
    "states": {value.value: label(value) for value in GradeState},
    "evidence": {value.value: label(value) for value in EvidenceFound},
}
"""The labels that the page of questions and answers needs."""

FLAG_MEANINGS = {
    Flag.CONTEXT_DUMP: "The answer contains most of the history.",
    Flag.HEDGED: "The answer expresses doubt.",
    Flag.TOKEN_MISMATCH: "The token counts of memeval and of the system differ by more than 10 %.",
    Flag.SELF_REPORTED_TOKENS: "The grade uses the system’s own token count.",
    Flag.FILTER_LEAK: "A search by tag or time returned texts that do not match the filter.",
    Flag.OTHER_BANK: "A search of one bank returned texts of another.",
}

UNMETERED, FREE = "unknown: not metered", "no model calls possible"
"""Why a cost is unknown, and why it is $0, on every page and in every file."""

_COST_REASONS = {
    "memeval does not see whether the system calls models": UNMETERED,
    "which models its hosts use, and at what price, cannot be observed": UNMETERED,
    "the answers were made elsewhere; their cost is known by their own account": UNMETERED,
    "the system's own calls are known by its own account only": "self-reported calls",
}


def cost_reason(reason: str | None) -> str | None:
    return _COST_REASONS.get(reason, reason) if reason else None


_OWN_FILE = re.compile(r"\s*see\s+licen[cs]e\s+in\b", re.IGNORECASE)
"""How package.json names a licence that is a file of the package (npm, ``license``)."""

_LICENCES = {"MIT License": "MIT", "any-OSI": "any OSI-approved licence"}
"""Words of package metadata that have a plainer form."""

_LICENCE_ADDRESS = re.compile(r":\s*https?://\S+\s*$")
"""The address after a licence's name."""


def licence_text(product: Product | None) -> str | None:
    """Return the licence of a product's package in plain words; ``None`` without a product."""
    if product is None:
        return None
    if product.licence is not None:
        if _OWN_FILE.match(product.licence):
            return "own licence file"
        return _LICENCES.get(product.licence, _LICENCE_ADDRESS.sub("", product.licence))
    return "not stated" + (f", licence file {product.licence_digest}" if product.licence_digest else "")


_DATA_LICENCES = {"LicenseRef-none-stated": "no licence stated", "LicenseRef-private": "your own data"}


def data_licence(licence: str) -> str:
    """Return the licence of a benchmark's data in plain words; an SPDX name as it is."""
    return _DATA_LICENCES.get(licence, licence)


INTERFACES = {
    "python": "Python class",
    "command": "program (JSON Lines over stdin and stdout)",
    "http": "HTTP server (memeval protocol)",
    "daemon": "HTTP server (jeffs-brain protocol)",
    "mcp": "MCP server",
}

READERS = {
    "native": ("own answers", "The system writes each answer itself."),
    "extractive": (
        "retrieval only, fixed extractive reader",
        "The system only retrieves. A fixed reader without an LLM copies the sentence that best states what is asked, "
        "and expresses doubt if the basis of a fact changed.",
    ),
    "chunks": ("retrieval only, no reader", "The retrieved text itself is graded as the answer."),
    "habits": ("retrieval only, rule-based reader", "The system only retrieves. Fixed rules write each answer."),
    "none": ("retrieval only, no answers", "Only what the system retrieves is measured."),
}
"""By the name of a reader without its version, a label of a track and what it means."""


def reader_label(reader: str) -> str:
    known = READERS.get(reader.partition("@")[0])
    return known[0] if known else f"retrieval only, answers by {reader}"


def reader_meaning(reader: str) -> str:
    known = READERS.get(reader.partition("@")[0])
    return known[1] if known else f"The system only retrieves. The model {reader} writes each answer."


@dataclass(frozen=True)
class SliceLabel:
    title: str
    meaning: str = ""
    """A sentence; empty if the title says everything."""
    values: dict[str, str] = field(default_factory=dict)


_SLICES = {
    "announced": SliceLabel(
        "how it was said",
        "How the history states the latest change of the fact, or of the fact on which it depends.",
        {
            "direct": "stated directly",
            "indirect": "implied",
            "hypothetical": "a daydream names another value",
            "retracted": "a later change was taken back",
        },
    ),
    "asked": SliceLabel(
        "what is asked",
        "The time that the question is about.",
        {
            "after": "the next value after another",
            "before": "the last value before another",
            "current": "the current value",
            "explicit-date": "the value in a named month",
            "when": "the time of the change",
        },
    ),
    "bank size": SliceLabel("texts in the bank", "Number of texts in the bank when the search runs."),
    "clone": SliceLabel("copy", "Whether the scenario is a variant of another one."),
    "depth": SliceLabel(
        "depth", "Number of values that the fact has had. For a dependent fact: number of facts on which it depends."
    ),
    "echo": SliceLabel("echo", "Whether the question contains its own expected words."),
    "errata": SliceLabel("known error", "Kind of the known error in the expected answer."),
    "evidence": SliceLabel("evidence", "Number of sessions that contain the answer."),
    "family": SliceLabel("topic", "What the fact is about.", {"tech": "technology"}),
    "future": SliceLabel("later reviews", "Whether the memory contains reviews that are later than the test."),
    "in flight": SliceLabel("concurrency", "Number of searches that run at the same time."),
    "memory": SliceLabel("size of memory", "Number of reviews in the memory."),
    "news": SliceLabel("new facts", "Number of facts that are said between the questions."),
    "noise": SliceLabel("unrelated talk", "Amount of sessions about other topics."),
    "photo": SliceLabel("photo", "Whether the evidence includes a photo."),
    "position": SliceLabel("position", "Where in the history the fact is said."),
    "twin": SliceLabel(
        "basis",
        "What happened to the fact on which the asked fact depends. Confirmed: the asked fact was stated again.",
        {
            "changed": "changed: doubt is correct",
            "reconfirmed": "changed, then confirmed: doubt is wrong",
            "unchanged": "unchanged: doubt is wrong",
        },
    ),
    "updates": SliceLabel("changed facts", "Number of new facts that replace an older value."),
}


def slice_label(name: str) -> SliceLabel:
    """Return the label of a slice; its own name if it has none, as in a user's question set."""
    return _SLICES.get(name, SliceLabel(name))


def slice_value(name: str, value: str) -> str:
    """Return the title of a value of a slice; its own spelling if that is plain."""
    return slice_label(name).values.get(value, value)


SLICE_LABELS = {name: {"title": found.title, "values": found.values} for name, found in _SLICES.items()}


def told_apart(board: Board) -> Board:
    """Return a board in which the name of a system includes its slug if another system has the same name.

    Names that differ only in case, spaces or compatible characters are the same: a reader could not tell them apart.
    """
    slugs: dict[str, set[str]] = defaultdict(set)
    for row in board.runs:
        slugs[name_key(row.run.system.name)].add(row.run.system.slug)
    shared = {name for name, found in slugs.items() if len(found) > 1}
    if not shared:
        return board

    def named(run: Run) -> Run:
        if name_key(run.system.name) not in shared:
            return run
        name = f"{run.system.name} ({run.system.slug})"
        return run.model_copy(update={"system": run.system.model_copy(update={"name": name})})

    def renamed(row: BoardRow) -> BoardRow:
        return replace(row, run=named(row.run))

    tables = tuple(
        replace(
            table,
            rows=tuple(renamed(row) for row in table.rows),
            baseline=named(table.baseline) if table.baseline else None,
        )
        for table in board.tables
    )
    return replace(board, tables=tables, runs=tuple(renamed(row) for row in board.runs))


def name_key(name: str) -> str:
    """Return what two names share that differ only in case, spaces or compatible characters."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
