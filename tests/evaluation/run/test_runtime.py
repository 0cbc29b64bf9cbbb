"""Preparation of a system, and its description in a run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.run.runtime import ExchangeBuffer
from memeval.evaluation.run.seal import cost
from memeval.evaluation.verify.verification import verify_run
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.setup import SystemSetup, default_sandbox_mode
from memeval.gateway.serving.hosts import HostRoute
from memeval.records.base import digest_of
from memeval.records.call import Phase, Traffic
from memeval.records.errors import BadInput
from memeval.records.run import EnvironmentIdentity, Isolation, Network, Run, ServiceIdentity
from memeval.records.submission import ServiceName
from memeval.systems.messages import AdapterInfo
from memeval.systems.sandbox import SandboxMode, find_sandbox
from memeval.systems.source import file_source, find_system
from tests.support.adapters import plain_adapter
from tests.support.runs import edit_head, make_run
from tests.support.tiny import TinyBenchmark

HELD = SystemSetup(sandbox=SandboxMode.BWRAP)
LOOSE = SystemSetup(sandbox=SandboxMode.NONE)
HELLO = AdapterInfo("Plain", ("query",), "cpython", "3.11.7", {"six": "1.17.0"})
ROUTES = {"api.acme.example": HostRoute("api.acme.example", "https://api.acme.example", "ACME_URL", None, None)}


def silent(sentence: str) -> None:
    """Ignore the message."""


def benchmark_session() -> BenchmarkSession:
    return BenchmarkSession.open(TinyBenchmark(4, 1))


def prepared(folder: Path, setup: SystemSetup = HELD, **more: Any) -> PreparedSystem:
    return replace(prepare(file_source(plain_adapter(folder)), setup, silent), **more)


def comparable(run: Run) -> dict[str, object]:
    return {name: value for name, value in run.data().items() if name not in Run.VOLATILE}


def row(number: int) -> Traffic:
    return Traffic(
        at="2026-11-22T10:00:00.000+00:00",
        host="api.acme.example",
        method="POST",
        path=f"/v1/{number}",
        status=200,
        sent_bytes=1,
        received_bytes=2,
        seconds=0.1,
        scenario_id=None,
        phase=Phase.ASK,
        error=None,
    )


@pytest.mark.parametrize(
    ("models", "routes", "network"),
    [
        ((), {}, Network.NONE),
        (("gpt-4o",), {}, Network.GATEWAY),
        (("local:small",), {}, Network.GATEWAY),
        (("gpt-4o",), ROUTES, Network.DECLARED),
    ],
)
def test_under_a_sandbox_the_network_is_what_the_system_declares(
    tmp_path: Path, models: tuple[str, ...], routes: dict[str, HostRoute], network: Network
) -> None:
    system = prepared(tmp_path, hosts=routes)
    system = replace(system, source=replace(system.source, declared_models=models))
    assert (system.isolation, system.network) == (Isolation.SANDBOXED, network)
    assert system.calls_out is bool(models or routes)


@pytest.mark.parametrize(
    ("models", "routes", "pays"),
    [
        ((), {}, False),
        (("local:small",), {}, False),
        (("local:small", "gpt-4o"), {}, True),
        (("local:small",), ROUTES, True),
    ],
)
def test_a_model_on_this_machine_costs_no_money(
    tmp_path: Path, models: tuple[str, ...], routes: dict[str, HostRoute], pays: bool
) -> None:
    system = prepared(tmp_path, hosts=routes)
    assert replace(system, source=replace(system.source, declared_models=models)).pays is pays


def test_without_a_sandbox_the_network_is_open(tmp_path: Path) -> None:
    system = prepared(tmp_path, LOOSE, hosts=ROUTES)
    assert (system.isolation, system.network) == (Isolation.FILES_REACHABLE, Network.OPEN)


def test_lock_and_services_are_part_of_what_a_system_ran_with(tmp_path: Path) -> None:
    plain = prepared(tmp_path)
    built = EnvironmentIdentity(digest=digest_of("a lock"), tool="uv 0.9", locked=True)
    other = EnvironmentIdentity(digest=digest_of("another"), tool="uv 0.9", locked=True)
    redis = ServiceIdentity(name=ServiceName.REDIS, version="7.0.15", digest=digest_of("redis"))
    digests = [
        plain.environment_digest(HELLO),
        replace(plain, environment=built).environment_digest(HELLO),
        replace(plain, environment=other).environment_digest(HELLO),
        replace(plain, services=(redis,)).environment_digest(HELLO),
        replace(plain, environment=built, services=(redis,)).environment_digest(HELLO),
    ]
    assert digests[0] == HELLO.environment_digest
    assert len(set(digests)) == 5


def test_the_build_tools_are_recorded_but_not_in_the_digest(tmp_path: Path) -> None:
    by_uv = EnvironmentIdentity(digest=digest_of("a lock"), tool="uv 0.9", locked=True)
    by_pip = by_uv.model_copy(update={"tool": "pip 25"})
    plain = prepared(tmp_path)
    one, other = (replace(plain, environment=each) for each in (by_uv, by_pip))
    assert one.environment_digest(HELLO) == other.environment_digest(HELLO)
    assert one.identity(HELLO) != other.identity(HELLO)


def test_a_host_that_is_not_declared_cannot_be_sent_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"api\.acme\.example"):
        prepared(tmp_path, replace(HELD, hosts={"api.acme.example": "http://127.0.0.1:8000"}))


def test_exchanges_are_kept_in_order_until_there_is_a_journal() -> None:
    exchanges, stored = ExchangeBuffer(), list[Traffic]()
    exchanges(row(1))
    exchanges(row(2))
    exchanges.store_in(stored.append)
    exchanges(row(3))
    assert [each.path for each in stored] == ["/v1/1", "/v1/2", "/v1/3"]


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({}, SandboxMode.AUTO),
        ({"MEMEVAL_SANDBOX": ""}, SandboxMode.AUTO),
        ({"MEMEVAL_SANDBOX": "bwrap"}, SandboxMode.BWRAP),
    ],
)
def test_systems_are_sandboxed_by_default(environment: dict[str, str], mode: SandboxMode) -> None:
    assert default_sandbox_mode(environment) is mode


def test_an_invalid_sandbox_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_SANDBOX", "yes")
    with pytest.raises(BadInput, match=r"MEMEVAL_SANDBOX is 'yes'\. Set it to one of: auto, bwrap, none"):
        SystemSetup()


@pytest.mark.parametrize("setup", [HELD, LOOSE])
def test_a_run_says_what_its_system_could_reach(tmp_path: Path, setup: SystemSetup) -> None:
    options = RunOptions(results=tmp_path / "results", setup=setup)
    run = run_system(file_source(plain_adapter(tmp_path)), benchmark_session(), options)
    assert run.run.scores.composite.value == 1.0
    sandbox = find_sandbox(setup.sandbox, silent)
    said = (run.run.isolation, run.run.network, run.run.sandbox)
    if sandbox is None:
        assert said == (Isolation.FILES_REACHABLE, Network.OPEN, None)
    else:
        assert said == (Isolation.SANDBOXED, Network.NONE, str(sandbox))
    assert verify_run(run) == []


def test_what_holds_a_system_decides_no_answer(tmp_path: Path) -> None:
    """A sandbox does not change the fingerprint, so the second run reuses the first."""
    source = file_source(plain_adapter(tmp_path))
    one = run_system(source, benchmark_session(), RunOptions(results=tmp_path / "results", setup=HELD))
    assert (
        run_system(source, benchmark_session(), RunOptions(results=tmp_path / "results", setup=LOOSE)).path == one.path
    )
    other = run_system(source, benchmark_session(), RunOptions(results=tmp_path / "results", setup=LOOSE, fresh=True))
    assert comparable(other.run) == comparable(one.run)


def test_a_control_is_sandboxed_like_any_system(tmp_path: Path) -> None:
    run = run_system(find_system("recency-window"), benchmark_session(), RunOptions(results=tmp_path, setup=HELD))
    assert run.run.isolation is Isolation.SANDBOXED


@pytest.mark.parametrize(
    "edit",
    [
        {"isolation": "sandboxed"},
        {"isolation": "sandboxed", "network": "none"},
        {"sandbox": "bubblewrap 0.8.0"},
        {"network": "none"},
    ],
)
def test_a_sandbox_that_contradicts_other_fields_is_reported(tmp_path: Path, edit: dict[str, str]) -> None:
    folder = edit_head(make_run(tmp_path, "acme"), **edit)
    assert any(finding.where.endswith("run.json: isolation") for finding in verify_run(folder))


def test_what_a_declared_host_costs_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    for models in ((), ("gpt-4o",)):
        system = prepared(tmp_path, hosts=ROUTES)
        system = replace(system, source=replace(system.source, declared_models=models))
        found = cost(system.identity(HELLO), {})
        assert found.usd is None
        assert found.reason == "which models its hosts use, and at what price, cannot be observed"
