"""Audits and model calls for tests, made of the real records. Nothing in them was ever measured."""

import json
from typing import Any

from memeval.records.audit import Agreement, Audit, AuditLine, Probe, ProbeKind, Rate
from memeval.records.base import digest_of
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.records.run import Harness
from memeval.records.scores import Interval
from memeval.statistics.intervals import wilson

HARNESS = Harness(
    version="0.1.0", commit=None, dirty=None, python="3.11.2", platform="Linux x86_64", packages={}, argv=("judge",)
)
CATEGORIES = ("belief-update", "noise-resistance")
STARTED = "2026-11-03T10:00:00.000+00:00"
ENDPOINT = "https://api.openai.com/v1"
MODEL = "gpt-4o-2024-08-06"


def make_rate(count: int, of: int) -> Rate:
    if not of:
        return Rate(count=0, of=0, share=None, interval=None)
    low, high = wilson(count, of)
    return Rate(count=count, of=of, share=count / of, interval=Interval(low=low, high=high))


def make_agreement(equal: int, of: int, kappa: float | None) -> Agreement:
    low, high = (None, None) if kappa is None else (kappa - 0.05, min(1.0, kappa + 0.05))
    return Agreement(items=of, equal=make_rate(equal, of), kappa=kappa, kappa_low=low, kappa_high=high)


def make_line(accepted: int, wrong: int, rejected: int, right: int, unparsed: int, kappa: float | None) -> AuditLine:
    total = wrong + right
    return AuditLine(
        false_accepts=make_rate(accepted, wrong),
        false_rejects=make_rate(rejected, right),
        unparsed=make_rate(unparsed, total),
        agreement=make_agreement(total - accepted - rejected - unparsed, total - unparsed, kappa),
    )


def make_audit(accepted: int = 12, **parts: Any) -> Audit:
    kinds = {kind: make_line(0, 30, 0, 0, 0, None) for kind in ProbeKind}
    kinds |= {
        ProbeKind.RIGHT: make_line(0, 0, 9, 300, 3, None),
        ProbeKind.VAGUE: make_line(accepted, 60, 0, 0, 0, None),
        ProbeKind.INJECTED_ORDER: make_line(2, 30, 0, 0, 1, None),
    }
    usual: dict[str, Any] = {
        "audit_id": "20261103T100000-0123abcd",
        "benchmark": "fake@1",
        "data_digest": digest_of("data"),
        "judge": "rules@3",
        "probes": "calibration@1",
        "overall": make_line(accepted, 390, 9, 300, 3, 0.93),
        "categories": {
            CATEGORIES[0]: make_line(accepted, 200, 4, 150, 1, 0.91),
            CATEGORIES[1]: make_line(0, 190, 5, 150, 2, 0.95),
        },
        "kinds": kinds,
        "started": STARTED,
        "harness": HARNESS,
        "files": {},
    }
    return Audit(**usual | parts)


def make_probe(number: int, kind: ProbeKind, *, verdict: bool | None, answer: str = "In town 3, I think.") -> Probe:
    return Probe(
        item_id=f"{CATEGORIES[0]}-{number:02}",
        category=CATEGORIES[0],
        cluster=f"c{number}",
        kind=kind,
        answer=answer,
        expected=kind is ProbeKind.RIGHT,
        verdict=verdict,
    )


def chat_body(text: str | None) -> str:
    return json.dumps({"model": MODEL, "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


def chat_request(prompt: str, model: str = MODEL, endpoint: str = ENDPOINT) -> ModelRequest:
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
    return ModelRequest(endpoint=endpoint, api=Api.CHAT, body=body)


def make_call(request: ModelRequest, reply: str | None = "{}", **parts: Any) -> Call:
    """Return a recorded call of a judge; ``parts``: other fields."""
    usual: dict[str, Any] = {
        "key": request.key,
        "caller": Caller.JUDGE,
        "phase": Phase.JUDGE,
        "request": request,
        "reply": reply,
        "at": STARTED,
    }
    return Call(**usual | parts)


def make_judgment(prompt: str, reply: str | None, **parts: Any) -> Call:
    """Return a recorded judgment with its costs; without a reply, one that failed."""
    usual: dict[str, Any] = {
        "error": "the endpoint gave no usable reply in 6 tries" if reply is None else None,
        "model": MODEL,
        "prompt_tokens": 310,
        "completion_tokens": 1,
        "cost_usd": 0.0008,
        "seconds": 0.42,
        "queued_seconds": 0.01,
    }
    request = parts.pop("request", None) or chat_request(prompt)
    return make_call(request, None if reply is None else chat_body(reply), **usual | parts)
