"""Reading the released file."""

import json
from pathlib import Path

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.released import FULL, read
from tests.benchmarks.test_copies import refusal


def test_the_source_of_the_catalogue_is_the_file_that_is_read() -> None:
    (source,) = LocomoBenchmark.info.sources
    assert source == FULL
    assert source.bytes == 2_805_274
    assert source.digest == "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert source.url == (
        "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refusal("locomo", tmp_path / "loop").startswith("cannot read the file (")


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate(10**12)
    assert refusal("locomo", tmp_path / "huge.json").startswith(f"the file has more than {FULL.bytes:,} bytes")


def test_the_real_file_is_read(data: Path) -> None:
    found = read(data / "locomo" / "locomo10.json")
    assert found.digest == FULL.digest
    assert [len(each.sessions) for each in found.conversations] == [19, 19, 32, 29, 29, 28, 31, 30, 25, 30]
    per_session = [[len(session.turns) for session in each.sessions] for each in found.conversations]
    assert [(min(turns), max(turns)) for turns in per_session] == [
        *((15, 39), (14, 28), (14, 37), (13, 38), (15, 43), (13, 47), (14, 40), (13, 44), (14, 33), (10, 43))
    ]


def test_sixteen_dates_of_the_real_file_have_no_session(data: Path) -> None:
    """They stand in the first conversation; only sessions are taken in."""
    told = json.loads((data / "locomo" / "locomo10.json").read_bytes())
    dates = [
        (sample["sample_id"], int(name.split("_")[1]))
        for sample in told
        for name in sample["conversation"]
        if name.endswith("_date_time") and name.removesuffix("_date_time") not in sample["conversation"]
    ]
    assert dates == [("conv-26", number) for number in range(20, 36)]
    assert sum(name.endswith("_date_time") for sample in told for name in sample["conversation"]) == 288
