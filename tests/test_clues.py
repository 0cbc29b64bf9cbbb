"""What can be guessed on beliefs@2 without reading it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from bench.clues import (
    OUT,
    PAGE,
    PROTOCOLS,
    RESULTS,
    Choice,
    choices,
    earned,
    guessed,
    measure,
    page_of,
    stance_guessed,
    stored_runs,
)
from memeval.benchmarks import find
from tests.support.commands import ROOT

RESULT = json.loads((ROOT / OUT).read_text(encoding="utf-8"))


def test_a_guesser_finds_a_clue_that_is_there_and_none_where_there_is_none() -> None:
    random = np.random.default_rng(3)

    def made(clue: float) -> list[Choice]:
        found = []
        for _ in range(300):
            right = np.eye(4, dtype=bool)[random.integers(4)]
            outside = random.normal(size=(4, 1)) + clue * right[:, None]
            found.append(Choice("any", "any", {"length": outside}, right))
        return found

    assert guessed(made(3.0), made(3.0), "length")[0] > 0.8
    found, chance = guessed(made(0.0), made(0.0), "length")
    assert chance == 0.25
    assert found == pytest.approx(0.25, abs=0.08)


def test_words_that_tell_the_stance_are_found() -> None:
    train = [("is it still so", True), ("is it surely so", False)] * 20
    assert stance_guessed(train, train) == (1.0, 0.5)


def test_every_choice_has_a_session_that_is_needed_and_one_that_misleads() -> None:
    dataset = find("beliefs@2").opened(None, {"size": 6}, "retrieval", "full")
    found = choices(dataset.scenarios(), dataset.answer_keys())
    assert found
    assert all(each.right.any() and not each.right.all() for each in found)


def test_neither_lengths_nor_words_of_questions_tell_the_answer() -> None:
    found = measure("full", {"size": 60})
    gains = [guess - chance for guess, chance in found["guesses"]["length"].values()]
    assert np.mean(gains) < 0.1
    assert found["stance"][0] < 0.65


def test_the_stored_guesses_are_near_chance() -> None:
    for tier in RESULT.values():
        for group in ("length", "date"):
            gains = [guess - chance for guess, chance in tier["guesses"][group].values()]
            assert np.mean(gains) < 0.08, group
        guess, chance = tier["guesses"]["order"]["noise-resistance"]
        assert guess < chance + 0.05
        assert tier["stance"][0] < tier["stance"][1] + 0.05


def test_the_page_says_what_was_measured() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page_of(RESULT, ROOT / RESULTS)


def test_a_tier_without_a_stored_run_has_no_score_and_a_system_without_any_no_row(tmp_path: Path) -> None:
    head = "| Control or system | `full` | `withheld-1` |"
    assert earned(stored_runs(tmp_path)).splitlines() == [head, "| --- | --- | --- |"]
    for path in (ROOT / RESULTS / "beliefs/minilm").glob("*/run.json"):
        (tmp_path / "beliefs/minilm" / path.parent.name).mkdir(parents=True)
        (tmp_path / "beliefs/minilm" / path.parent.name / path.name).write_bytes(path.read_bytes())
    runs = stored_runs(tmp_path)
    row = r"\| MiniLM vectors \| [\d.]+ \([\d.]+ to [\d.]+\) \| – \|"
    assert re.fullmatch(row, earned(runs).splitlines()[2]), "without a ledger it has no rank"
    assert re.fullmatch(r"\| MiniLM vectors \| [\d.]+ \([^|]+\)( \| –){3} \|", earned(runs, PROTOCOLS).splitlines()[2])


def test_an_accepted_run_of_a_system_has_a_range_of_ranks_and_a_control_has_none() -> None:
    lines = earned(stored_runs(ROOT / RESULTS)).splitlines()
    (vectors,) = (line for line in lines if line.startswith("| MiniLM vectors |"))
    (control,) = (line for line in lines if line.startswith("| BM25 |"))
    assert re.search(r"\), rank \d+ to \d+ \|", vectors) and "rank" not in control
