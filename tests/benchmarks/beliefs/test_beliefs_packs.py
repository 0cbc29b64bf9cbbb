"""Wording packs: their rules, and how a withheld pack is committed and revealed."""

import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.beliefs.wording.__main__ import HERE, main
from memeval.benchmarks.beliefs.wording.editions import FILENAME, Wordings, mixed, opened, wording, wordings
from memeval.benchmarks.beliefs.wording.packs import LARGEST, WordingPack, faults, read_pack, shared
from memeval.benchmarks.kit.checks import says
from memeval.records.errors import BadInput
from memeval.toml import parse_toml

REVEALED = [each.name for each in wordings().packs if (HERE / f"{each.name}.toml").is_file()]
TODAY = date(2026, 12, 1)


def pack(name: str) -> WordingPack:
    return read_pack((HERE / f"{name}.toml").read_bytes(), name)


@pytest.mark.parametrize("name", REVEALED)
def test_a_published_pack_breaks_no_rule(name: str) -> None:
    assert faults(pack(name)) == []


def test_published_packs_share_no_topic_sentence_or_value() -> None:
    packs = [pack(name) for name in REVEALED]
    assert [fault for i, one in enumerate(packs) for other in packs[i + 1 :] for fault in shared(one, other)] == []


@pytest.mark.parametrize(
    ("phrase", "text", "said"),
    [
        ("green tea", "I drink GREEN Tea.", True),
        ("tea", "A steam engine; teas.", False),
        ("tea", "A steam engine, and tea.", True),
        ("Kiel", "Off to \N{KELVIN SIGN}iel.", True),
        ("\N{KELVIN SIGN}iel", "Off to kiel.", True),
        ("\N{LATIN SMALL LETTER LONG S}oap", "Soap.", True),
        ("caf\u00e9", "The CAF\u00c9\u2026", True),
        ("cafe", "The caf\u00e9.", False),
    ],
)
def test_a_phrase_is_said_as_whole_words_in_any_case_and_script(phrase: str, text: str, said: bool) -> None:
    assert says(("never said", phrase), text) is said


Change = Callable[[dict[str, Any]], object]


def framed(name: str, added: object) -> Change:
    return lambda d: d["frames"][name].append(added)


def tip_with_a_value(data: dict[str, Any]) -> None:
    value = data["topics"][1]["values"][0]
    data["topics"][0]["tips"].append(f"Try {value if isinstance(value, str) else value[0]}.")


EARLY, LATE = ["It's {v}.", "Oh?", "Yes, {v}."], ["My {label}.", "Yes?", "Well.", "{v}, then."]
CHANGES: dict[str, tuple[Change, str]] = {
    "frame without its slot": (framed("first", "That is me."), "needs the slot do or doing or v"),
    "frame with an unknown slot": (framed("still", "I still {do} {sing}."), "uses the slot 'sing'"),
    "brace left open": (framed("still", "I still {do."), "a brace too many or too few"),
    "frame twice": (lambda d: d["frames"]["still"].append(d["frames"]["still"][0]), "occurs twice"),
    "too few frames": (lambda d: d["frames"].update(first=d["frames"]["first"][:3]), "frames.first has 3 frames"),
    "script that tells early": (framed("elliptic", EARLY), "states the value before the last line"),
    "script that ends with the assistant": (framed("elliptic", LATE), "must end with a line of the user"),
    "value said in a sentence": (tip_with_a_value, "contains the value"),
    "value twice": (lambda d: d["topics"][0]["values"].append(d["topics"][1]["values"][0]), "belongs to two values"),
    "topic twice": (lambda d: d["topics"].append(d["topics"][0]), "occurs twice"),
    "too few values": (lambda d: d["topics"][0].update(values=d["topics"][0]["values"][:2]), "values and needs"),
    "dependent without a reason": (lambda d: d["chains"][0][1].update(because=[]), "entries in 'because'"),
    "theme without a pair": (lambda d: d["themes"][0]["more"].append("And then?"), "as many entries in 'more'"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_broken_rule_is_named(case: str) -> None:
    change, sentence = CHANGES[case]
    data = tomllib.loads((HERE / "alder.toml").read_text("utf-8"))
    change(data)
    assert any(sentence in fault for fault in faults(WordingPack.model_validate(data)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "'name' is missing"),
        (b"\xff\xfe", "not valid TOML"),
        (b"a = [", "not valid TOML"),
        (b'name = 3\nframes = "x"\n', "'name': text belongs here"),
        (b"#" * (LARGEST + 1), "too many for a wording pack"),
    ],
)
def test_a_file_that_is_no_pack_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        read_pack(content, "some.toml")


def home(folder: Path) -> Path:
    """Return a folder with one published pack, and no other digest."""
    folder.mkdir()
    published = next(each for each in wordings().packs if each.name == "alder")
    (folder / "alder.toml").write_bytes((HERE / "alder.toml").read_bytes())
    (folder / FILENAME).write_text(
        f'schema_version = 1\n\n[[packs]]\nname = "alder"\ndigest = "{published.digest}"\n'
        'committed = "2026-11-24"\nopens = "2026-11-24"\n\n[tiers]\nfull = ["alder"]\nlater = ["secret"]\n'
    )
    return folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a pack that shares nothing with the published one."""
    path = tmp_path / "secret.toml"
    path.write_text((HERE / "birch.toml").read_text("utf-8").replace('name = "birch"', 'name = "secret"', 1))
    return path


def read(folder: Path) -> Wordings:
    place = folder / FILENAME
    return parse_toml(place.read_bytes(), place).record(Wordings)


def test_a_pack_is_committed_then_withheld_then_revealed(
    tmp_path: Path, secret: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home(tmp_path / "packs")
    assert main(["commit", str(secret), "--opens", "2027-01-01"], folder, TODAY) == 0
    with pytest.raises(BadInput, match=r"withheld.*it may be published from 2027-01-01"):
        mixed(read(folder), "later", folder)

    capsys.readouterr()
    assert main(["reveal", str(secret)], folder, date(2026, 12, 31)) == 2
    assert "may be published from 2027-01-01 on" in capsys.readouterr().err
    assert not (folder / "secret.toml").exists()

    assert main(["reveal", str(secret)], folder, date(2027, 1, 1)) == 0
    assert mixed(read(folder), "later", folder).packs[0].name == "secret"
    assert mixed(read(folder), "full", folder).packs[0].name == "alder"


def test_a_withdrawn_sentence_is_not_used_and_its_pack_stays_as_published() -> None:
    for each in wordings().withdrawn:
        assert each.text in (HERE / f"{each.pack}.toml").read_text("utf-8"), each.text
        tier = next(tier for tier, names in wordings().tiers.items() if each.pack in names)
        pack = next(pack for pack in wording(tier).packs if pack.name == each.pack)
        assert each.text not in pack.model_dump_json()


def test_a_sentence_that_its_pack_does_not_have_cannot_be_withdrawn() -> None:
    with pytest.raises(BadInput, match=r"has no sentence 'Nobody said this\.', which is withdrawn"):
        opened(wordings().pack("alder"), HERE, {"Nobody said this."})


def test_a_revealed_pack_must_have_the_committed_digest(
    tmp_path: Path, secret: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home(tmp_path / "packs")
    main(["commit", str(secret), "--opens", "2026-12-01"], folder, TODAY)
    secret.write_text(secret.read_text("utf-8") + "# changed\n")
    assert main(["reveal", str(secret)], folder, TODAY) == 2
    assert "proves nothing" in capsys.readouterr().err

    (folder / "secret.toml").write_bytes(secret.read_bytes())
    with pytest.raises(BadInput, match="was published on 2026-12-01"):
        opened(read(folder).pack("secret"), folder)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["commit", "{alder}", "--opens", "2027-01-01"], 2, "published already"),
        (["commit", "{secret}", "--opens", "2026-01-01"], 2, "2026-01-01 is past"),
        (["commit", "{copy}", "--opens", "2027-01-01"], 1, "faults"),
        (["reveal", "{secret}"], 2, "no wording pack is called 'secret'"),
        (["check", "{missing}"], 2, "cannot be read"),
        (["new", "{secret}"], 2, "exists"),
    ],
)
def test_a_wrong_command_is_refused_with_a_sentence(
    tmp_path: Path, secret: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str
) -> None:
    folder = home(tmp_path / "packs")
    before = (folder / FILENAME).read_bytes()
    copy = tmp_path / "copy.toml"
    copy.write_bytes((HERE / "alder.toml").read_bytes())
    places = {"alder": folder / "alder.toml", "secret": secret, "copy": copy, "missing": tmp_path / "none.toml"}
    assert main([word.format(**places) for word in words], folder, TODAY) == code
    assert sentence in capsys.readouterr().err
    assert (folder / FILENAME).read_bytes() == before


def test_a_new_pack_is_empty_and_named(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path / "elder.toml")], tmp_path, TODAY) == 0
    data = tomllib.loads((tmp_path / "elder.toml").read_text("utf-8"))
    assert data["name"] == "elder" and data["frames"]["update"] == []
