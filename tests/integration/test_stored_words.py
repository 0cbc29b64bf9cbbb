"""No stored run of two benchmarks whose text is withheld has four words of it in a row, outside of marks."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.systems.controls import placebo
from tests.support.data import test_data

RESULTS = Path(__file__).resolve().parents[2] / "results"
FILES = {
    "factconsolidation@1": "factconsolidation/Conflict_Resolution.json",
    "vehiclemembench@1": "vehiclemembench/MANIFEST.json",
}
TOGETHER = 4


def rows(text: str) -> Iterator[tuple[str, ...]]:
    """Yield each row of words of a text."""
    words = re.findall(r"[^\W_]+", text.lower())
    yield from zip(*(words[start:] for start in range(TOGETHER)), strict=False)


@pytest.mark.results
@pytest.mark.parametrize("name", FILES)
def test_no_stored_file_has_words_of_the_source(name: str) -> None:
    session = BenchmarkSession.open(find(name), test_data(FILES[name]).parent)
    stored: set[tuple[str, ...]] = set()
    folders = [RESULTS / session.benchmark.info.name, *RESULTS.glob(f"history/*/*/{session.benchmark.info.name}")]
    for path in (path for folder in folders for path in folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
            stored.update(row for part in re.split("⟦[^⟧]*⟧", text) for row in rows(part))
    assert len(stored) > 1000, "there are runs, and they were read"
    # The sentences of this control are our own.
    stored -= {row for number in range(placebo.COUNT) for row in rows(placebo.text(number))}
    for scenario in session.scenarios.values():
        texts = [turn.content for each in scenario.sessions() for turn in each.turns]
        texts += [question.question for question in scenario.questions()]
        assert not stored & {row for text in texts for row in rows(text)}, scenario.scenario_id
    for key in session.all_keys:
        assert not stored & {row for text in key.key.references for row in rows(text)}, key.item_id
