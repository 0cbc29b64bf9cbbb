"""Fresh editions of beliefs@2: announced with withheld packs, and opened with the seed and the packs only."""

import hashlib
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.beliefs.benchmark import JUDGE, BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh import FreshBeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.__main__ import EDITIONS, PACKS, main
from memeval.benchmarks.beliefs.fresh.editions import Edition, Editions
from memeval.benchmarks.beliefs.fresh.value import BeaconValue
from memeval.benchmarks.beliefs.wording.packs import read_pack
from memeval.benchmarks.kit.checks import says
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.toml import parse_toml

NOW = datetime(2027, 1, 10, tzinfo=UTC)
AT = "2027-03-01T12:00:00Z"
SIGNATURE = "ab" * 48

EDITION = Edition(id="beliefs-fresh-202703@2", month="March 2027", at=AT, round=37033012, packs=("cedar", "dogwood"))
"""An edition for tests alone; its packs are public."""


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """Return a folder with the digests of four packs, of which two are withheld."""
    folder = tmp_path / "packs"
    folder.mkdir()
    for name in ("alder.toml", "birch.toml"):
        shutil.copy(PACKS / name, folder)
    text = (PACKS / "editions.toml").read_text()
    before, mark, after = text.partition('name = "cedar"')
    (folder / "editions.toml").write_text(before + mark + after.replace('opens = "2026-11-24"', 'opens = "2027-03-01"'))
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a copy of the file of the editions."""
    return Path(shutil.copy(EDITIONS, tmp_path / "editions.toml"))


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """Return the stored value of a beacon, which is not from the beacon itself."""
    randomness = hashlib.sha256(bytes.fromhex(SIGNATURE)).hexdigest()
    value = BeaconValue(
        edition=EDITION.id, round=EDITION.round, randomness=randomness, signature=SIGNATURE, source="http://127.0.0.1/"
    )
    path = tmp_path / "beacon.json"
    path.write_text(value.to_json())
    return path


def said(data: Dataset) -> str:
    return "\n".join(t.content for each in data.scenarios() for s in each.each_session() for t in s.turns)


def test_an_announced_edition_names_its_round_and_its_packs(
    file: Path, packs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_text()
    assert main(["announce", "--at", AT, "cedar", "dogwood"], file, packs, NOW) == 0
    found = parse_toml(file.read_bytes(), file).record(Editions)
    assert found.editions[-1] == EDITION and len(found.editions) == 2
    assert file.read_text().startswith(before)
    assert found.beacon.genesis + (EDITION.round - 1) * 3 <= EDITION.moment.timestamp()
    assert found.beacon.genesis + EDITION.round * 3 > EDITION.moment.timestamp()
    assert '"beliefs-fresh-202703@2" = "memeval.benchmarks.beliefs.fresh:MARCH_2027"' in capsys.readouterr().out
    assert main(["announce", "--at", AT, "cedar"], file, packs, NOW) == 2
    assert "March 2027 is announced already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--at", "2027-03-01", "cedar"], "'2027-03-01' is no time"),
        (["--at", "2027-01-09T12:00:00Z", "cedar"], "is past"),
        (["--at", "2027-03-02T12:00:00Z", "cedar"], "may be published from 2027-03-01, before the draw"),
        (["--at", "2026-12-31T12:00:00Z", "cedar"], "is past"),
        (["--at", AT, "elm"], "no wording pack is called 'elm'"),
        (["--at", AT, "alder"], "'alder' is public"),
        (["--at", AT, "cedar", "cedar"], "named twice"),
    ],
)
def test_an_edition_that_cannot_be_announced_is_refused_and_nothing_is_written(
    words: list[str], sentence: str, file: Path, packs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert main(["announce", *words], file, packs, NOW) == 2
    assert sentence in capsys.readouterr().err
    assert file.read_bytes() == before


def test_an_edition_has_the_seed_of_the_beacon_and_the_words_of_its_packs_alone(seed: Path) -> None:
    benchmark = FreshBeliefsBenchmark(EDITION)
    data = benchmark.open(seed, {"size": 2})
    assert data.parameters == {"seed": int(hashlib.sha256(bytes.fromhex(SIGNATURE)).hexdigest()[:12], 16), "size": 2}
    assert not data.released
    same = BeliefsBenchmark().opened(None, data.parameters, JUDGE, "withheld-1")
    assert data.digest == same.digest
    alder = read_pack((PACKS / "alder.toml").read_bytes(), PACKS / "alder.toml")
    text = said(data)
    assert not any(says(value.phrases, text) for topic in alder.all_topics for value in topic.values)
    assert [tier.name for tier in benchmark.info.tiers] == ["full"] and benchmark.info.seed_of == "beliefs@2"
    assert "cedar and dogwood" in benchmark.info.made and "{" not in benchmark.info.summary
    assert {each.name for each in benchmark.info.protocols} == {"retrieval", "judge", "shared", "stored"}
    assert len(list(benchmark.opened(seed, {"size": 2}, "stored", "full").answer_keys())) == 2


def test_an_edition_whose_packs_are_withheld_cannot_be_opened(seed: Path, packs: Path) -> None:
    benchmark = FreshBeliefsBenchmark(EDITION, packs=packs)
    assert not benchmark.available(seed) and FreshBeliefsBenchmark(EDITION).available(seed)
    assert "cedar, dogwood" in benchmark.remedy()
    with pytest.raises(BadInput, match="'cedar' is withheld"):
        benchmark.open(seed, {"size": 2})


def test_a_revealed_pack_that_differs_from_its_digest_is_refused(seed: Path, packs: Path) -> None:
    changed = (PACKS / "cedar.toml").read_bytes() + b"\n"
    (packs / "cedar.toml").write_bytes(changed)
    shutil.copy(PACKS / "dogwood.toml", packs)
    with pytest.raises(BadInput, match=f"has the digest {digest_bytes(changed)}"):
        FreshBeliefsBenchmark(EDITION, packs=packs).open(seed, {"size": 2})


def test_a_seed_of_the_caller_and_a_missing_one_are_refused(seed: Path) -> None:
    benchmark = FreshBeliefsBenchmark(EDITION)
    with pytest.raises(BadInput, match="its seed is fixed"):
        benchmark.open(seed, {"seed": 42})
    with pytest.raises(BadInput, match="the seed of beliefs-fresh-202703@2 is missing"):
        benchmark.open(seed.with_name("nothing.json"))


def test_an_edition_without_packs_is_in_public_wording(
    seed: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = FreshBeliefsBenchmark(EDITION.model_copy(update={"packs": ()}))
    data = benchmark.open(seed, {"size": 2})
    same = BeliefsBenchmark().opened(None, data.parameters, JUDGE, "full")
    assert data.digest == same.digest and benchmark.available(seed)
    assert benchmark.info.tiers == BeliefsBenchmark.info.tiers[:1] and "pack" not in benchmark.remedy()
    assert main(["announce", "--at", AT], file, PACKS, NOW) == 0
    assert parse_toml(file.read_bytes(), file).record(Editions).editions[-1].packs == ()
    assert "MARCH_2027" in capsys.readouterr().out
