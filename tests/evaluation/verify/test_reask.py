"""Asking a run's judge again: what is drawn, what is sent, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.trust import holds
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.checks.subject import draw
from memeval.evaluation.verify.reask import reask
from memeval.gateway.stops import BudgetSpent
from memeval.records.base import digest_of
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import Sample
from memeval.systems.source import file_source
from tests.evaluation.asking import PickyServer, by_rules, fair, judged_run
from tests.support.adapters import plain_adapter
from tests.support.forging import Forger
from tests.support.tiny import TinyBenchmark

ITEMS = 32


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PickyServer, RunFolder]]:
    with judged_run(tmp_path_factory.mktemp("re-asking")) as made:
        yield made


@pytest.fixture
def server(made: tuple[PickyServer, RunFolder]) -> PickyServer:
    server = made[0]
    server.answer, server.fails_on = fair, lambda _body: False
    return server


@pytest.fixture
def run(made: tuple[PickyServer, RunFolder], server: PickyServer) -> RunFolder:
    return RunFolder(made[1].path)


def test_a_judge_that_gave_the_replies_gives_them_again_without_the_record(run: RunFolder, server: PickyServer) -> None:
    assert len(list(run.judgments())) == ITEMS
    before = server.requests
    assert reask(run, 20) == Sample(asked=20, agreed=20)
    assert server.requests == before + 20, "every reply is recorded, and none is used"
    assert reask(run, 50) == Sample(asked=ITEMS, agreed=ITEMS)


def test_another_judge_gives_other_verdicts(run: RunFolder, server: PickyServer) -> None:
    server.answer = lambda _body: "no"
    sample = reask(run, 20)
    wrong = {grade.item_id for grade in run.grades() if grade.verdict is False}
    assert sample.agreed < 10
    assert len(sample.differing) == 20 - sample.agreed
    assert not wrong & set(sample.differing)
    assert not holds(sample)


def test_a_reply_that_is_no_verdict_is_another_reply(run: RunFolder, server: PickyServer) -> None:
    server.answer = lambda _body: "perhaps"
    assert reask(run, 20).agreed == 0


def test_the_digest_of_the_run_draws_the_sample(run: RunFolder) -> None:
    population = {str(number): number for number in range(100)}
    one = draw(population, 20, run.digest)
    assert one == draw(dict(reversed(population.items())), 20, run.digest)
    assert len(set(one)) == 20
    assert one != draw(population, 20, digest_of("another run"))


def test_a_run_judged_by_rules_has_no_judge_to_ask(tmp_path: Path, run: RunFolder) -> None:
    session = BenchmarkSession.open(TinyBenchmark(8, questions=4))
    ruled = run_system(file_source(plain_adapter(tmp_path)), session, by_rules(tmp_path))
    with pytest.raises(BadInput, match="was graded by rules: there is no judge to ask"):
        reask(ruled)


def test_another_endpoint_is_not_asked(run: RunFolder, server: PickyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = server.requests
    monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(BadInput) as refused:
        reask(run)
    assert f"was at {server.url}, but the judge's endpoint here is http://127.0.0.1:9/v1." in str(refused.value)
    assert f"Set MEMEVAL_JUDGE_BASE_URL={server.url}." in str(refused.value)
    assert server.requests == before


def test_a_sample_that_says_too_little_is_refused(run: RunFolder) -> None:
    with pytest.raises(BadInput, match=r"--n is 19\. Give a number of at least 20\."):
        reask(run, 19)


def test_grades_that_contradict_the_replies_are_not_sampled(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    forger = Forger.of(run, tmp_path / "forged")
    for grade in forger.grades:
        grade["verdict"] = True
    before = server.requests
    with pytest.raises(CheckFailed, match="the grades do not follow from the recorded replies"):
        reask(forger.seal())
    assert server.requests == before


def test_a_judge_without_a_reply_leaves_no_sample(run: RunFolder, server: PickyServer) -> None:
    server.fails_on = lambda body: "Lima" in str(body)
    with pytest.raises(CheckFailed, match=r"gave no reply to \d+ of 32 requests"):
        reask(run)


def test_a_budget_stops_the_sample_which_starts_again(run: RunFolder) -> None:
    with pytest.raises(BudgetSpent) as stopped:
        reask(run, models=ModelOptions(budget=("judge.tokens=1700",), judge_concurrency=1))
    assert str(stopped.value).endswith("Run the same command again.")
    assert "saved" not in str(stopped.value)
