"""Forged prices and payers of model calls. The forger adds calls to a stored run, and computes all sums again."""

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.evaluation.verify.checks.subject import Sessions
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.evaluation.verify.verification import checks_of_run
from memeval.gateway.budget import price_list
from memeval.gateway.replies import read
from memeval.records.call import Api, Call, Caller, Phase
from tests.support.audits import chat_body, chat_request
from tests.support.forging import Forger

OTHER = "20261122T120147Z-01234567"
"""A run that does not exist."""

RUN = "astrocyte-basic/bm25s"


def paid_call(forger: Forger, **parts: Any) -> Call:
    """Return a call of the system in its first scenario, that the run paid for by the price list."""
    scenario = forger.responses[0]["scenario_id"]
    request = chat_request("Summarise.")
    usage = {"prompt_tokens": 310, "completion_tokens": 20}
    body = json.dumps(json.loads(chat_body("A summary.")) | {"usage": usage})
    reply = read(body, Api.CHAT)
    usual: dict[str, Any] = {
        "key": request.key_in(scenario, 0),
        "caller": Caller.SYSTEM,
        "phase": Phase.INGEST,
        "run_id": forger.head["run_id"],
        "scenario_id": scenario,
        "ordinal": 0,
        "request": request,
        "reply": body,
        "model": reply.model,
        **usage,
        "cost_usd": reply.price(request.model),
        "at": forger.head["timing"]["started"],
    }
    return Call(**usual | parts)


def calls_of(place: Path, prices: str | None = None, **parts: Any) -> tuple[Check, dict[str, Any]]:
    """Return the check of the calls of a run with one call, and the usage in its head."""
    forger = Forger.of(RUN, place)
    forger.rows["calls.jsonl"] = [paid_call(forger, **parts).data()]
    run = forger.seal(**({} if prices is None else {"prices": prices}))
    (check,) = (check for check in checks_of_run(run, Sessions()) if check.name == "calls")
    return check, run.run.data()["usage"]["take_in"]


def test_an_honest_call_is_priced_again(tmp_path: Path) -> None:
    check, usage = calls_of(tmp_path)
    assert check.status is CheckStatus.OK
    assert usage["usd"] > 0


@pytest.mark.parametrize("cost", [0.0, None])
def test_a_call_for_another_price_than_that_of_the_list_is_found(cost: float | None, tmp_path: Path) -> None:
    check, _ = calls_of(tmp_path, cost_usd=cost)
    assert "has a 'cost_usd' that does not match its reply." in str(check.findings[0])


def test_an_unknown_price_list_is_found(tmp_path: Path) -> None:
    check, _ = calls_of(tmp_path, prices="acme prices 1.0 (2026-11-09)", cost_usd=0.0)
    assert "prices: is 'acme prices 1.0 (2026-11-09)', which is not a price list of memeval." in str(check.findings[0])
    assert check.not_checked == "the prices of acme prices 1.0 (2026-11-09) are not here"
    assert price_list() not in str(check.findings[0])


def test_a_call_that_a_run_paid_for_that_is_not_here_is_not_called_checked(tmp_path: Path) -> None:
    check, usage = calls_of(tmp_path, run_id=OTHER)
    assert (usage["cached"], usage["usd"]) == (1, 0.0)
    assert check.status is CheckStatus.NOT_CHECKED
    assert check.not_checked == f"1 call was paid for by run {OTHER}, which is not here"


def test_a_call_that_the_named_run_does_not_have_is_found(tmp_path: Path) -> None:
    other = Forger.of("astrocyte-basic/chroma", tmp_path).seal()
    check, _ = calls_of(tmp_path, run_id=other.run.run_id)
    assert f"calls.jsonl.gz:1: was paid for by run {other.run.run_id}, which has no such call." in str(
        check.findings[0]
    )


def test_fewer_tokens_in_a_stored_reply_are_the_runners_word(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    body = json.dumps(json.loads(chat_body("A summary.")) | {"usage": usage})
    cost = read(body, Api.CHAT).price(chat_request("Summarise.").model)
    check, total = calls_of(tmp_path, reply=body, cost_usd=cost, prompt_tokens=1, completion_tokens=1)
    assert check.status is CheckStatus.OK and (total["usd"] or 0) < 310 * 2.5e-6
