"""Runs on MemoryCD hold none of the words of its reviews and products, and are repeated with the data."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.memorycd import MemoryCDBenchmark
from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.records.errors import BadInput
from memeval.systems.source import file_source
from tests.support.memorycd import products, users, write_data

PARROT = '''
class Parrot:
    """Says and prints all that it was told, in every place where a system can put words."""

    def reset(self):
        self.told = []

    def retain(self, content, metadata=None, source_id=None, timestamp=None):
        self.told += [content, *(str(value) for value in (metadata or {}).values())]
        print("taking in:", content, metadata, flush=True)

    def found(self, query):
        items = [{"text": text, "source_ids": ["as in: " + text]} for text in [*self.told, query]]
        items.append({"text": " - ".join(self.told).upper()})
        return {"items": items, "context": "Known: " + " and ".join(self.told) + " for " + query}

    def query(self, question, timestamp="now"):
        if "[ranking]" in question and len(self.told) % 2:
            raise RuntimeError("I only know: " + question + self.told[1])
        return {"answer": "I was told: " + self.told[-1] + " " + question, **self.found(question)}

    def search(self, query, k, timestamp="now"):
        return self.found(query)
'''


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"), users(2, shortest=3, longest=4), items=60)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def of_the_data() -> Iterator[str]:
    for user in users(2, shortest=3, longest=4):
        for reviews in user["interactions"].values():
            for review in reviews:
                yield from (review["title"], review["text"])
    for domain in DOMAINS:
        for line in products(domain, 60):
            yield line["title"]
            yield str(line.get("description", ""))


def leaks(results: Path) -> Iterator[str]:
    """Yield every three words in a row of the data that stand in a file below a folder, outside of marks."""
    known = {tuple(words(text)[at : at + 3]) for text in of_the_data() for at in range(len(words(text)) - 2)}
    for path in sorted(each for each in results.rglob("*") if each.is_file()):
        stored = path.read_bytes()
        text = (gzip.decompress(stored) if path.suffix == ".gz" else stored).decode()
        for part in re.split("⟦[^⟧]*⟧", text):
            said = words(part)
            for at in range(len(said) - 2):
                if tuple(said[at : at + 3]) in known:
                    yield f"{path.name}: {said[at : at + 3]}"


@pytest.mark.parametrize(
    ("protocol", "reader"),
    [("title-cross", "native"), ("review-single", "extractive"), ("ranking-single", "native")],
)
def test_a_run_holds_no_three_words_of_the_data_and_is_repeated_with_it(
    tmp_path: Path, data: Path, protocol: str, reader: str
) -> None:
    (tmp_path / "parrot.py").write_text(PARROT, encoding="utf-8")
    benchmark_session = BenchmarkSession.open(MemoryCDBenchmark(), data, {"users": 1, "tests": 1}, protocol=protocol)
    options = RunOptions(results=tmp_path / "results", protocol=protocol, reader=reader)
    run = run_system(file_source(tmp_path / "parrot.py"), benchmark_session, options)
    assert list(leaks(tmp_path / "results")) == []
    assert run.run.coverage.done == len(benchmark_session.keys) == 4
    full = [row.answer + str(row.error) for row in decoded_run(run, benchmark_session).responses()]
    assert any("came on time" in each or "Product:" in each for each in full)
    again = reproduce_run(RunFolder(run.path), data)
    assert not verify_run(RunFolder(run.path)) and again.equal
    assert again.composite == run.run.scores.composite.value
    other = write_data(tmp_path / "other", users(3))
    with pytest.raises(BadInput, match="used data"):
        reproduce_run(RunFolder(run.path), other)
