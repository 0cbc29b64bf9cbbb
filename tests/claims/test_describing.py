"""A source is data: defaults of its files, rules for votes, and copies where people keep them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.formats.mapped_rows import rows_of
from memeval.claims.copies import Copies
from memeval.claims.store import read_sources
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.mapping import RowMapping
from memeval.records.source import PublishedSource, with_defaults
from tests.claims.conftest import BY_ID, source_of

HEAD = """schema_version = 1
name = "acme"
title = "Acme"
repository = "acme/memory"
looked_at = "2026-11-27"
[mappings.main]
rows = "$[*]"
item = "id"
verdicts = { judge = { path = "votes", votes = "majority" } }
[mappings.other]
rows = "$[*]"
item = "id"
scores = { points = { path = "votes", votes = "mean" } }
"""

DEFAULTS = """[defaults]
benchmark = "known@1"
answer_model = "model-a"
judges = { judge = "judge-a" }
mapping = "main"
"""

FILE = """[[files]]
name = "one"
system = "Acme"
parts = [{ path = "a.json" }]
"""


def read(folder: Path, text: str) -> PublishedSource:
    (folder / "acme.toml").write_text(text, encoding="utf-8")
    return read_sources(folder)[0]


def test_defaults_are_those_of_every_file_that_states_no_other(tmp_path: Path) -> None:
    other = FILE.replace('"one"', '"two"').replace("parts = [{", 'parts = [{ mapping = "other",')
    source = read(tmp_path, HEAD + DEFAULTS + FILE + other + 'answer_model = "model-b"\n')
    assert [file.benchmark for file in source.files] == ["known@1", "known@1"]
    assert [file.answer_model for file in source.files] == ["model-a", "model-b"]
    assert [file.parts[0].mapping for file in source.files] == ["main", "other"]
    assert source.files[1].judges == {"judge": "judge-a"}


def test_defaults_and_the_same_words_in_every_file_are_one_source(tmp_path: Path) -> None:
    """Digests of entries do not depend on where a setting is written."""
    short = read(tmp_path, HEAD + DEFAULTS + FILE)
    long = FILE.replace("}]", ', mapping = "main" }]')
    stated = 'benchmark = "known@1"\nanswer_model = "model-a"\njudges = { judge = "judge-a" }\n'
    assert short.files[0].identity() == read(tmp_path, HEAD + long + stated).files[0].identity()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD + FILE, "acme.toml.*the file 'one' names no benchmark. Add it to the file or to "),
        (HEAD + FILE + 'benchmark = "known@1"\n', "the file 'one' names no mapping"),
        (HEAD + DEFAULTS.replace("known@1", "known") + FILE, "'known' without a version"),
        (HEAD + DEFAULTS + "planned = 9\n" + FILE, "has the key of known@1. Leave one of them out"),
        (HEAD + DEFAULTS.replace("known@1", "other") + "planned = 9\n" + FILE, "needs a 'scale': yes-no, choice, hit"),
        (HEAD + DEFAULTS + "planned = 0\n" + FILE, r"acme.toml:19.*'defaults.planned'"),
        (HEAD + DEFAULTS + 'scale = "stars"\n' + FILE, r"acme.toml:19.*'defaults.scale'"),
        (HEAD + DEFAULTS + 'scale = "rubric"\n' + FILE, "has the scale 'rubric', but 'main' maps no 'scores'"),
        (HEAD + DEFAULTS + 'fuel = "x"\n' + FILE, r"acme.toml:19.*unknown key 'defaults.fuel'"),
        (HEAD + DEFAULTS + 'benchmark = "known@1"\n' + FILE, r"acme.toml:19.*a key occurs twice"),
        (HEAD + DEFAULTS + FILE + DEFAULTS, r"acme.toml:2\d.*[Cc]annot declare|occurs twice"),
        (HEAD + DEFAULTS + FILE + FILE, "two files have the name 'one'"),
        ("defaults = 3\n" + HEAD + FILE, "'defaults': a table of names and values belongs here"),
        (HEAD + DEFAULTS + "[files]\nname = 1\n", "'files': a list belongs here"),
        (
            HEAD.replace("majority", "plurality") + DEFAULTS + FILE,
            "'plurality' is no rule for votes; choose majority or mean",
        ),
        (HEAD.replace("majority", "mean") + DEFAULTS + FILE, "the vote rule 'mean' belongs under 'scores'"),
        (HEAD.replace('"mean"', '"majority"') + DEFAULTS + FILE, "the vote rule 'majority' belongs under 'verdicts'"),
        (HEAD.replace('"Acme"\nrepository', '"A\x00"\nrepository') + DEFAULTS + FILE, "acme.toml"),
        (HEAD + DEFAULTS + FILE.replace("a.json", "../a.json"), "does not lie inside the repository"),
    ],
)
def test_a_source_that_contradicts_itself_is_refused_with_a_sentence(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=f"(?s){problem}"):
        read(tmp_path, text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_defaults_never_fail_on_data_of_another_form(data: Any) -> None:
    assert with_defaults({"defaults": data, "files": data}).keys() == {"defaults", "files"}
    assert with_defaults({"defaults": {"mapping": data}, "files": [data]})["files"]


VOTED = RowMapping.model_validate_json(
    json.dumps(
        {
            "rows": "$[*]",
            "verdicts": {"judge": {"path": "votes", "votes": "majority"}},
            "scores": {"points": {"path": "points", "votes": "mean"}},
        }
    )
)


def voted(votes: Any, points: Any = (1,)) -> tuple[bool | None, float | None]:
    (row,) = rows_of([{"votes": votes, "points": list(points)}], VOTED, "file")
    return row.verdicts["judge"], row.scores.get("points")


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        ([True, True, False], True),
        (["no", "CORRECT", "wrong"], False),
        ([1, 0, 1.0], True),
        ([True, False], None),
        ([True, False, None], "several types: null, true or false"),
        ([True, "yes"], "several types: text, true or false"),
        (["yes", "perhaps", "yes"], None),
        ([], None),
        ("yes", "is text, not a list of votes"),
        ({"a": True}, "is an object, not a list of votes"),
    ],
)
def test_most_votes_give_the_verdict(votes: Any, verdict: bool | str | None) -> None:
    if isinstance(verdict, str):
        with pytest.raises(BadInput, match=f"file: row 1.*'judge' .*{verdict}"):
            voted(votes)
    else:
        assert voted(votes)[0] is verdict


@given(st.lists(st.booleans(), min_size=1))
def test_a_majority_is_more_than_half_and_a_mean_is_the_share(votes: list[bool]) -> None:
    verdict, share = voted(votes, votes)
    assert share == pytest.approx(sum(votes) / len(votes))
    assert verdict is (None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes))


def test_a_mean_takes_numbers_and_refuses_words() -> None:
    assert voted([True], [1, 0.5, 0])[1] == 0.5
    assert voted([True], ["yes", "no"])[1] == 0.5
    with pytest.raises(BadInput, match="a vote that is neither a number nor a verdict"):
        voted([True], ["yes", "perhaps"])


Place = Callable[[str], Path]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Write the small file at a place in a folder, and return the folder."""

    def write(where: str) -> Path:
        path = tmp_path / "copies" / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"[1]")
        return tmp_path / "copies"

    return write


@pytest.mark.parametrize(
    "where",
    [
        "runs/answers.json",
        "memory/runs/answers.json",
        "acme/memory/runs/answers.json",
        "acme__memory/runs/answers.json",
        "acme__memory/runs__answers.json",
    ],
)
def test_a_normal_clone_is_found(place: Place, where: str) -> None:
    source = source_of(b"[1]", BY_ID)
    copies = Copies(place(where))
    assert copies.has(source, source.files[0].parts[0])
    assert copies.find(source, source.files[0].parts[0])[1] == b"[1]"


def test_a_clone_of_another_owner_with_the_same_name_does_not_hide_the_right_one(place: Place) -> None:
    source = source_of(b"[1]", BY_ID)
    folder = place("runs/answers.json")
    (place("memory/runs/answers.json") / "memory/runs/answers.json").write_bytes(b"[2]")
    assert Copies(folder).find(source, source.files[0].parts[0])[1] == b"[1]"


def test_a_clone_at_another_commit_is_refused_and_the_commit_named(place: Place) -> None:
    source = source_of(b"[2]", BY_ID)
    with pytest.raises(BadInput, match=f"expected {digest_bytes(b'[2]')}.*Check that commit out") as raised:
        Copies(place("memory/runs/answers.json")).find(source, source.files[0].parts[0])
    assert source.commit is not None and source.commit in str(raised.value)


def test_an_absent_file_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    source = source_of(b"[1]", BY_ID)
    with pytest.raises(BadInput, match=r"no copy of acme/memory/runs/answers\.json.*memeval sources pull acme"):
        Copies(tmp_path).find(source, source.files[0].parts[0])
