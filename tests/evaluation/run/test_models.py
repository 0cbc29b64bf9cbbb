"""Model calls in a run: refused options, spending of resumed runs, endpoints, and log lines."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.evaluation.run.models import RECORD, ModelOptions, Models, models_for, recorded_calls
from memeval.evaluation.run.running import run_system
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import BudgetSpent, GatewayStopped
from memeval.records.call import Caller, Phase
from memeval.records.errors import BadInput
from memeval.systems.source import find_system
from tests.evaluation.asking import PickyServer, benchmark_session, options, spent


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"judge_concurrency": 0}, "--judge-concurrency is 0"),
        ({"model_concurrency": -1}, "--model-concurrency is -1"),
        ({"requests_per_minute": 0.0}, "--requests-per-minute is 0"),
        ({"requests_per_minute": math.inf}, "--requests-per-minute is inf"),
        ({"requests_per_minute": math.nan}, "--requests-per-minute is nan"),
        ({"tokens_per_minute": -2.5}, "--tokens-per-minute is -2.5"),
        ({"tokens_per_minute": math.nan}, "--tokens-per-minute is nan"),
    ],
)
def test_an_invalid_number_is_refused_and_creates_nothing(tmp_path: Path, given: dict[str, Any], option: str) -> None:
    with pytest.raises(BadInput, match=option), models_for(tmp_path / "results", ModelOptions(**given)):
        pass
    assert not (tmp_path / "results").exists()


@pytest.fixture
def capped(tmp_path: Path) -> Iterator[Models]:
    """The gateway of a run with a budget of 1,000 tokens, and a record with calls of two runs."""
    with CallRecord(tmp_path / RECORD) as record:
        record.append_all([spent("mine", tokens=300), spent("theirs", tokens=900)])
    with models_for(tmp_path, ModelOptions(budget=("tokens=1000",))) as models:
        yield models


def reserve(models: Models, tokens: int, phase: Phase = Phase.JUDGE) -> None:
    request = spent("mine").request
    body = {"model": "m", "messages": [], "max_tokens": tokens}
    models.gateway.run(models.budget.reserve(phase, request.model_copy(update={"body": body})))


def test_a_resumed_run_has_spent_what_it_paid_for_only(capped: Models) -> None:
    capped.open_run("mine", CallRecord(None))
    with pytest.raises(BudgetSpent, match="300 tokens spent"):
        reserve(capped, 650)
    reserve(capped, 500)


def test_a_resumed_run_has_spent_its_systems_calls_too(capped: Models) -> None:
    own = CallRecord(None)
    own.append_all([spent("mine", Phase.INGEST, tokens=400)])
    capped.open_run("mine", own)
    with pytest.raises(BudgetSpent, match="700 tokens spent"):
        reserve(capped, 300)


def test_a_dollar_budget_stops_at_a_model_without_a_known_price(tmp_path: Path, server: PickyServer) -> None:
    with pytest.raises(GatewayStopped, match="has no known price"):
        run_system(
            find_system("always-hedge"), benchmark_session(), options(tmp_path, "usd=1", judge="openai:home-made")
        )
    assert server.requests == 0


@pytest.mark.usefixtures("no_models")
def test_a_key_is_asked_for_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with models_for(tmp_path, ModelOptions(), on_disk=False) as models:
        models.check_keys([])
        with pytest.raises(BadInput, match="MEMEVAL_JUDGE_API_KEY and OPENAI_API_KEY are not set"):
            models.check_keys([Caller.JUDGE])
        for caller in Caller:
            with pytest.raises(BadInput, match=f"there is no key for the {caller}'s model"):
                models.check_keys([caller])
        monkeypatch.setenv("MEMEVAL_JUDGE_API_KEY", "key-of-the-judge")
        models.check_keys([Caller.JUDGE])
        assert models.endpoint(Caller.JUDGE).key == "key-of-the-judge"
        with pytest.raises(BadInput):
            models.check_keys([Caller.JUDGE, Caller.READER])
    assert not (tmp_path / RECORD).exists()


def test_a_replay_needs_no_key_and_uses_recorded_urls(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_system(find_system("always-hedge"), benchmark_session(), options(tmp_path))
    assert len(recorded_calls(run)) == 4
    monkeypatch.delenv("OPENAI_BASE_URL")
    with models_for(tmp_path / "other", ModelOptions(replay=run)) as models:
        models.check_keys(list(Caller))
        assert models.endpoint(Caller.JUDGE).url == server.url
        assert models.endpoint(Caller.JUDGE).key is None
    assert not (tmp_path / "other").exists()


def test_log_lines_are_returned_once_and_in_order(tmp_path: Path) -> None:
    with models_for(tmp_path, ModelOptions(), on_disk=False) as models:
        models.happened("refused", "a model that was not declared", "tiny-001")
        models.happened("refused", "another", "")
        logged = [(line.event, line.detail, line.scenario_id) for line in models.lines()]
        assert logged == [("refused", "a model that was not declared", "tiny-001"), ("refused", "another", None)]
        assert models.lines() == []


def test_log_lines_contain_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with models_for(tmp_path, ModelOptions(), on_disk=False) as models:
        models.happened("refused", "with sk-0123456789abcdef in it", "")
        (line,) = models.lines()
        assert "0123456789abcdef" not in str(line.detail) and "in it" in str(line.detail)


def test_what_was_spent_is_told_for_progress(tmp_path: Path, server: PickyServer) -> None:
    with models_for(tmp_path, ModelOptions()) as models:
        request = spent("x").request.model_copy(
            update={"endpoint": server.url, "body": {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}}
        )
        server.answer = lambda _body: "yes"
        assert models.spent() == (0.0, 0, 0)
        for _ in range(2):
            models.gateway.call(request, models.endpoint(Caller.READER), Caller.READER, Phase.READ)
        usd, made, cached = models.spent()
        assert (made, cached) == (1, 1)
        assert usd and usd > 0
