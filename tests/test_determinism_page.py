"""The table of determinism in the guide is that of its file, and what it is measured with."""

import json
from pathlib import Path
from typing import Any

from bench.determinism import END, LONG_EVERY, OUT, START, VARIATIONS, requests, table_of, write
from memeval.tokens import count_tokens

ROOT = Path(__file__).resolve().parents[1]


def test_every_variation_was_measured_with_pinned_weights() -> None:
    for table in json.loads((ROOT / OUT).read_text()):
        assert [row["variation"] for row in table["rows"]] == [variation.name for variation in VARIATIONS]
        assert table["setup"]["weights"].startswith("sha256:")


def test_only_long_requests_differ_with_another_number_of_threads() -> None:
    for table in json.loads((ROOT / OUT).read_text()):
        (row,) = [each for each in table["rows"] if "threads" in each["variation"]]
        assert (row["texts_differ"], row["log_probabilities_differ"]) == (0, table["requests"] // LONG_EVERY)


def test_the_answers_of_two_processors_are_compared_one_by_one() -> None:
    def table(processor: str, *answers: tuple[str, str]) -> dict[str, Any]:
        made = [{"text": text, "log_probabilities": digest} for text, digest in answers]
        return {"model": "tiny", "requests": 3, "processor": processor, "setup": {"engine": "e 1"}, "answers": made}

    tables = [
        table("A", ("x", "1"), ("y", "2"), ("z", "3")),
        table("B", ("x", "1"), ("y", "4"), ("w", "5")),
        table("C"),
    ]
    text = table_of([{**each, "rows": []} for each in tables])
    assert text.count("another processor") == 1
    assert "| `tiny` | A, then B | another processor | 3 | 1 | 2 |" in text


def test_writing_replaces_the_table_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "model.md"
    page.write_text(f"before\n{START}old\n{END}after\n")
    row = {"variation": "again", "texts_differ": 1, "log_probabilities_differ": 2}
    made = {"model": "tiny", "requests": 3, "processor": "P", "setup": {"engine": "e 1"}, "answers": []}
    table: dict[str, Any] = {**made, "rows": [{}, row]}
    write([table], tmp_path / "out.json", page)
    text = page.read_text()
    assert text.startswith(f"before\n{START}") and text.endswith(f"{END}after\n")
    assert "| `tiny` | P | again | 3 | 1 | 2 |" in text and "old" not in text
    assert json.loads((tmp_path / "out.json").read_text()) == [table]


def test_requests_differ_share_their_instructions_and_each_fourth_is_long() -> None:
    made = requests(40)
    texts = [request["messages"][1]["content"] for request in made]
    assert len(set(texts)) == 40
    assert len({request["messages"][0]["content"] for request in made}) == 1
    tokens = [count_tokens(made[0]["messages"][0]["content"] + text) for text in texts]
    assert all(600 <= each <= 900 for each in tokens[3::4])
    assert all(each <= 160 for place, each in enumerate(tokens) if place % 4 != 3)
