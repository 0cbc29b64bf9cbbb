"""Generated data that one process keeps for the next is the data that the generator makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.beliefs import benchmark as beliefs
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit import kept as module
from memeval.benchmarks.kit.kept import Generated, Generation, generated

WORDS = wording("full")
PARAMETERS = {"seed": 3, "size": 12}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "LEAST_BYTES", 0)
    return tmp_path / "cache" / "benchmarks"


def made(protocol: str) -> Generated:
    return generated("beliefs@2", PARAMETERS, beliefs.KINDS, lambda: beliefs.HISTORIES[protocol](3, 12, WORDS))


def refuse(*parameters: object) -> Generation:
    raise AssertionError("the data was kept")


def again() -> Generated:
    return generated("beliefs@2", PARAMETERS, beliefs.KINDS, refuse)


@pytest.mark.parametrize("protocol", beliefs.HISTORIES)
def test_kept_data_is_what_was_generated(protocol: str) -> None:
    first, second = made(protocol), again()
    assert second.digest == first.digest
    assert list(second.scenarios) == list(first.scenarios)
    assert second.keys == first.keys
    assert [type(item.key) for item in second.keys] == [type(item.key) for item in first.keys]
    assert list(second.scenarios.ids()) == list(first.scenarios.ids())
    assert all(second.scenarios.one(name).scenario_id == name for name in first.scenarios.ids())


def test_a_benchmark_opens_kept_data(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened() -> Dataset:
        beliefs._generation.cache_clear()
        return beliefs.BeliefsBenchmark().opened(None, {"seed": 3, "size": 12}, "judge", "full")

    made = opened()
    assert list(cache.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(beliefs, "HISTORIES", {"judge": refuse})
        again = opened()
    assert again.digest == made.digest
    assert list(again.scenarios()) == list(made.scenarios())
    assert list(again.answer_keys()) == list(made.answer_keys())
    assert all(again.scenario(name).scenario_id == name for name in made.scenario_ids())


def test_a_damaged_file_is_not_used(cache: Path) -> None:
    first = made("judge")
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes().replace(b"Assistant", b"assistant", 1))
    with pytest.raises(AssertionError, match="the data was kept"):
        again()
    assert made("judge").keys == first.keys
    assert again().digest == first.digest


@pytest.mark.parametrize("head", [b"", b"null", b"[]", b"{}", b"\xff", b'{"digest": 1}'])
def test_a_file_with_another_first_line_is_not_used(cache: Path, head: bytes) -> None:
    first = made("judge")
    (file,) = cache.iterdir()
    file.write_bytes(head + b"\n" + file.read_bytes().partition(b"\n")[2])
    with pytest.raises(AssertionError, match="the data was kept"):
        again()
    assert made("judge").digest == first.digest


def test_other_code_generates_again_and_the_oldest_files_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for state in range(module.MOST_STATES + 2):
        monkeypatch.setattr(module, "code_digest", partial(str.__add__, "sha256:", str(state) * 64))
        with pytest.raises(AssertionError, match="the data was kept"):
            again()
        made("judge")
        again()
    assert len(list(cache.iterdir())) == module.MOST_STATES


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "file"))
    assert made("judge").digest == made("judge").digest


def test_small_data_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_BYTES", 100_000_000)
    made("judge")
    assert not cache.exists()
