"""Reading the file: a sentence for everything that can be wrong with a copy."""

import json
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.released import FULL_BYTES, FULL_DIGEST, LARGEST, parse, read
from memeval.records.errors import BadInput
from tests.benchmarks.locomo.samples import samples
from tests.benchmarks.test_copies import refusal as refused
from tests.benchmarks.test_copies import written


def refusal(path: Path) -> str:
    return refused("locomo", path)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def test_the_source_of_the_catalogue_is_the_file_that_is_read() -> None:
    (source,) = LocomoBenchmark.info.sources
    assert (source.bytes, source.digest) == (FULL_BYTES, FULL_DIGEST)
    assert FULL_BYTES == 2_805_274
    assert FULL_DIGEST == "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert source.url == (
        "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refusal(tmp_path / "loop").startswith("cannot read the file (")


def test_the_older_archive_is_told_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/multimodal_dialog/locomo10_v2/26.json", "{}")
    assert refusal(path).startswith("this is the older release: one file per conversation")
    assert "locomo10.json" in refusal(path)


def test_any_other_archive_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("locomo10.json", "[]")
    assert refusal(path) == "this is a ZIP archive."
    path.write_bytes(path.read_bytes()[:30])
    assert refusal(path) == "this is a ZIP archive."


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate(10**12)
    assert refusal(tmp_path / "huge.json").startswith(f"the file has more than {LARGEST:,} bytes")


def test_a_long_line_is_quoted_in_part(tmp_path: Path) -> None:
    changed = samples()
    changed[0]["conversation"]["session_2_date_time"] = changed[0]["sample_id"] = "x" * 1_000_000
    assert len(refusal(written(tmp_path, changed))) < 500
    changed[0]["sample_id"] = "syn-1"
    assert len(refusal(written(tmp_path, changed))) < 500


def test_what_is_odd_in_the_released_file_is_read() -> None:
    first, second = parse(json.dumps(samples()).encode(), Path("made-up.json"))
    assert [session.number for session in first.sessions] == [2, 10]
    assert [session.date for session in first.sessions] == ["2024-02-08T13:56:00Z", "2024-03-01T00:09:00Z"]
    assert first.questions[2].answer == "2024"
    assert first.questions[5].evidence == ("D2:2; D2:1", "D9:9")
    assert (second.questions[1].answer, second.questions[1].adversarial_answer) == ("No", "Yes")


@given(
    st.sampled_from(
        ["sample_id", "conversation", "qa", "observation", "session_1", "session_1_date_time", "speaker_a"]
    ),
    JSON_VALUES,
)
def test_whatever_stands_in_a_place_is_read_or_refused_in_a_sentence(name: str, value: object) -> None:
    changed = samples()[1:]
    (changed[0] if name in changed[0] else changed[0]["conversation"])[name] = value
    try:
        parse(json.dumps(changed).encode(), Path("made-up.json"))
    except BadInput as refused:
        assert refused.problem.endswith((".", "'?"))


def test_the_real_file_is_read(data: Path) -> None:
    found = read(data / "locomo" / "locomo10.json")
    assert found.digest == FULL_DIGEST
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
