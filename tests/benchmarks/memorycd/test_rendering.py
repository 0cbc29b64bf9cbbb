"""What systems are shown, and what they are asked to search for."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.memorycd import MemoryCDBenchmark
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Product
from memeval.benchmarks.memorycd.rendering import INSTRUCTIONS, UNKNOWN, candidates, query, remembered, work
from memeval.benchmarks.memorycd.users import Interaction
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.records.errors import BadInput
from memeval.systems.source import file_source
from tests.support.memorycd import products, users, write_data

RATING, TITLE, REVIEW, RANKING = MemoryCDTask
LAMP = Product("Osmark desk lamp", 4.3, "Electronics", "['Bends.', 'Shines.']" + "d" * 400)
ITEM = Interaction("Electronics", 0, "B0AAAAAAA1", 4.0, "Bright enough", "w" * 250, 7.0, ("B0AAAAAAA2", "B0AAAAAAA1"))


def test_a_remembered_review_is_written_field_by_field() -> None:
    assert remembered(ITEM, LAMP, with_domain=True).split("\n") == [
        "Domain: Electronics",
        "  Title: Bright enough",
        "  Rating: 4.0/5",
        f"  Review: {'w' * 200}...",
        "  Product: Osmark desk lamp",
        "  Product Avg Rating: 4.3",
        "  Category: Electronics",
    ]


def test_what_is_missing_is_left_out_and_a_name_is_not_said_twice() -> None:
    short = Interaction("Books", 0, "", 5, "Osmark desk lamp", "w" * 200, 0)
    told = remembered(short, LAMP, with_domain=False).split("\n")
    assert told[:3] == ["Title: Osmark desk lamp", "  Rating: 5/5", f"  Review: {'w' * 200}"]
    assert told[3:] == ["  Product Avg Rating: 4.3", "  Category: Electronics"]
    assert remembered(Interaction("Books", 0, "", None, "", "", 0), None, with_domain=False) == ""


def target(task: MemoryCDTask, *, clean: bool = False, product: Product | None = LAMP) -> list[str]:
    shown = [("B0AAAAAAA2", None), ("B0AAAAAAA1", LAMP)]
    told = work(task, ITEM, product, shown if task is RANKING else [], clean)
    instruction, _, rest = told.partition("\n\n")
    assert instruction == INSTRUCTIONS[task] and instruction.startswith(f"[{task.value}] ")
    return rest.split("\n")


KNOWN = ["Product: Osmark desk lamp", "  Product Avg Rating: 4.3", "  Category: Electronics"]


def test_a_rating_is_asked_for_under_the_title_of_the_review_unless_it_is_clean() -> None:
    assert target(RATING) == ["Title: Bright enough", *("  " + each.strip() for each in KNOWN)]
    assert target(RATING, clean=True) == KNOWN
    assert target(RATING, clean=True, product=None) == [UNKNOWN]


def test_a_title_is_asked_for_with_the_whole_review_and_a_review_with_the_rating_alone() -> None:
    assert target(TITLE) == [*KNOWN, "  Rating: 4.0/5", f"  Review: {'w' * 250}"]
    assert target(REVIEW) == [*KNOWN, "  Rating: 4.0/5"]


def test_candidates_are_numbered_and_what_is_not_known_is_said() -> None:
    assert target(RANKING) == [
        "ID: B0AAAAAAA2",
        "  Number: 1",
        f"  Product: {UNKNOWN}",
        "ID: B0AAAAAAA1",
        "  Number: 2",
        *("  " + each.strip() for each in KNOWN),
        f"  Description: {LAMP.description[:200]}...",
    ]


@pytest.mark.parametrize(
    ("task", "clean", "words"),
    [
        (RATING, False, ["Bright enough", *LAMP.words]),
        (RATING, True, LAMP.words),
        (TITLE, False, ["w" * 250, *LAMP.words]),
        (REVIEW, False, LAMP.words),
        (RANKING, False, ["Bright enough", *LAMP.words]),
        (RANKING, True, ["Other", *LAMP.words]),
    ],
)
def test_the_memory_is_searched_for_what_the_released_code_searches_for(
    task: MemoryCDTask, clean: bool, words: list[str]
) -> None:
    shown = [("B0AAAAAAA2", Product(title="Other")), ("B0AAAAAAA3", None), ("B0AAAAAAA1", LAMP)]
    assert query(task, ITEM, LAMP, shown, clean) == " ".join(words)


def test_where_nothing_is_known_the_domain_is_searched_for() -> None:
    assert query(REVIEW, Interaction("Home_and_Kitchen", 0, "", 1, "t", "x", 0), None, [], False) == "Home and Kitchen"


def test_the_order_of_candidates_is_that_of_hashes() -> None:
    found = candidates("SYNTH1", ITEM, once=False)
    keyed = {each: hashlib.sha256(f"42:SYNTH1:Electronics:{each}".encode()).hexdigest() for each in found}
    assert list(found) == sorted(found, key=keyed.__getitem__)
    assert sorted(found) == ["B0AAAAAAA1", "B0AAAAAAA1", "B0AAAAAAA2"]
    assert candidates("SYNTH1", ITEM, once=True) == tuple(dict.fromkeys(found))
    orders = {candidates(f"SYNTH{number}", ITEM, once=True) for number in range(20)}
    assert len(orders) == 2


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
    ("protocol", "reader"), [("title-cross", "native"), ("review-single", "extractive"), ("ranking-single", "native")]
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
