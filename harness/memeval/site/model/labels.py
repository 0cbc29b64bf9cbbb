"""What pages call the values that records hold. Records keep their spelling; these labels are for readers."""

from __future__ import annotations

from enum import StrEnum

from memeval.leaderboard.board import RankStatus
from memeval.records.audit import ProbeKind
from memeval.records.call import Phase
from memeval.records.failure import Cause, EvidenceFound
from memeval.records.grade import Flag, GradeState
from memeval.records.run import ContextSource, Isolation, Network, SystemKind, TokenSource, View

_LABELS: tuple[tuple[StrEnum, str], ...] = (
    (RankStatus.OVER_ERROR_GATE, "too many errors"),
    (RankStatus.NO_COMPOSITE, "no composite score"),
    (RankStatus.UNLABELLED_JUDGE, "judge endpoint unlabelled"),
    (RankStatus.PLUMBING, "smoke test"),
    (RankStatus.NOT_THE_VENDOR, "vendor’s service not used"),
    (RankStatus.UNRELEASED, "not the released data"),
    (RankStatus.AWAITING_VENDOR, "waiting for the vendor"),
    (RankStatus.ROWS_ELSEWHERE, "grades not available here"),
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
    (GradeState.GRADED, "graded"),
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
    """Return how a value reads on a page; its own spelling where that is plain enough."""
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

_COST_REASONS = {
    "memeval does not see whether the system calls models": "unknown",
    "which models its hosts use, and at what price, cannot be observed": "unknown",
    "the answers were made elsewhere; their cost is known by their own account": "not measured",
    "the system's own calls are known by its own account only": "self-reported calls",
}


def cost_reason(reason: str | None) -> str | None:
    """Return why a cost is unknown, in few words for a table cell; ``None`` without a reason."""
    return _COST_REASONS.get(reason, reason) if reason else None


INTERFACES = {
    "python": "Python class",
    "command": "program (JSON Lines over stdin and stdout)",
    "http": "HTTP server (memeval protocol)",
    "daemon": "HTTP server (jeffs-brain protocol)",
    "mcp": "MCP server",
}
"""The interface of a system, by adapter kind."""

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
    """Return who writes the answers of a track, by its reader's name."""
    known = READERS.get(reader.partition("@")[0])
    return known[0] if known else f"retrieval only, answers by {reader}"


def reader_meaning(reader: str) -> str:
    """Return the same as a sentence."""
    known = READERS.get(reader.partition("@")[0])
    return known[1] if known else f"The system only retrieves. The model {reader} writes each answer."
