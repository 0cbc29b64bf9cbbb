"""Which versions of a product are measured, as a real index over HTTP lists them."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.evaluation.history.choosing import chosen
from memeval.evaluation.history.released import Release, Releases, released
from memeval.records.choices import Every
from memeval.records.errors import BadInput
from memeval.records.history import PackageIndex
from tests.evaluation.history.products import RELEASES
from tests.support.http_server import Call, serving
from tests.support.package_index import Index, package_index


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with package_index(RELEASES) as made:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{made.address}/simple")
        yield made


def names(found: tuple[Release, ...]) -> list[str]:
    return [each.version for each in found]


def test_versions_come_with_their_dates_in_the_order_of_their_numbers(index: Index) -> None:
    found = released("keepsake", PackageIndex.PYPI)
    assert names(found.every) == [
        *("0.9", "1.0", "1.1", "1.2", "1.3", "1.4", "1.4.1", "2.0a1", "2.0", "2.1", "2.2", "2.3"),
    ]
    assert names(found.plain) == ["0.9", "1.0", "1.1", "1.2", "1.4", "1.4.1", "2.0", "2.1", "2.2", "2.3"]
    assert found.dated
    assert {each.version: found.day_of(each) for each in found.every}["2.0"] == "2025-11-10"
    assert {each.version: each.yanked for each in found.every if each.yanked is not None} == {"1.3": "it lost texts"}


def test_the_last_version_of_each_quarter_is_chosen_and_no_patch_of_an_older_line(index: Index) -> None:
    found = released("keepsake", PackageIndex.PYPI)
    assert names(chosen(found)) == ["0.9", "1.0", "1.1", "1.4", "2.0", "2.1", "2.2", "2.3"]
    assert names(chosen(found, every=Every.YEAR)) == ["0.9", "2.0", "2.3"]
    assert names(chosen(found, every=Every.MONTH, last=2)) == ["2.2", "2.3"]
    assert names(chosen(found, last=3)) == ["2.1", "2.2", "2.3"]


def test_prereleases_and_withdrawn_versions_are_chosen_by_name_alone(index: Index) -> None:
    found = released("keepsake", PackageIndex.PYPI)
    assert names(chosen(found, ["2.0a1", "1.3", "1.0"])) == ["1.0", "1.3", "2.0a1"]
    assert not {"1.3", "2.0a1"} & set(names(chosen(found, every=Every.RELEASE)))


def test_a_version_that_does_not_exist_is_refused_with_the_nearest(index: Index) -> None:
    with pytest.raises(BadInput, match=r"'keepsake' has no version '2\.5'\. Did you mean '2\."):
        chosen(released("keepsake", PackageIndex.PYPI), ["2.5"])
    with pytest.raises(BadInput, match="--last is 0"):
        chosen(released("keepsake", PackageIndex.PYPI), last=0)


def test_an_index_without_dates_gives_the_newest_versions_in_order(index: Index) -> None:
    index.dated = False
    found = released("keepsake", PackageIndex.PYPI)
    assert not found.dated
    assert {found.day_of(each) for each in found.every} == {None}
    assert names(chosen(found, last=2)) == names(chosen(found, every=Every.QUARTER, last=2)) == ["2.2", "2.3"]


@pytest.mark.parametrize(
    ("days", "dated"),
    [
        (["2025-01-01", "2025-02-01", "2025-03-01"], True),
        (["2025-01-01", "2025-04-01", "2025-03-01"], False),
        (["2025-01-01", "2025-01-01", "2025-01-01"], True),
        (["2025-01-01", None, "2025-03-01"], False),
    ],
)
def test_dates_count_only_where_they_rise_with_the_version(days: list[str | None], dated: bool) -> None:
    every = tuple(Release(f"{number}.0", day) for number, day in enumerate(days, 1))
    assert Releases("x", PackageIndex.NPM, "", every).dated is dated


def test_a_renamed_package_is_said_to_be_absent(index: Index) -> None:
    with pytest.raises(BadInput, match=r"there is no package 'keepsakes' in the index\. It may have another name now"):
        released("keepsakes", PackageIndex.PYPI)


def test_an_index_with_a_password_receives_it_and_no_message_shows_it(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[str | None] = []

    def answer(call: Call) -> None:
        received.append(call.headers["Authorization"])
        index.answer(call)

    with serving(answer) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address.replace('//', '//me:s3cr%40t@')}/simple")
        assert released("keepsake", PackageIndex.PYPI).address == f"{address}/simple/keepsake/"
        with pytest.raises(BadInput, match="there is no package 'other'") as absent:
            released("other", PackageIndex.PYPI)
    assert "s3cr" not in str(absent.value)
    assert received == [f"Basic {base64.b64encode(b'me:s3cr@t').decode()}"] * 2


def test_an_index_that_cannot_be_reached_or_sends_no_json_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    with pytest.raises(BadInput, match="the package index cannot be reached"):
        released("keepsake", PackageIndex.PYPI)

    def broken(call: Call) -> None:
        call.reply(200, b"{", {"Content-Type": "application/json"})

    with serving(broken) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        with pytest.raises(BadInput, match="sent no valid JSON"):
            released("keepsake", PackageIndex.PYPI)
    monkeypatch.setenv("UV_DEFAULT_INDEX", Path("/opt").as_uri())
    with pytest.raises(BadInput, match="is no http or https address"):
        released("keepsake", PackageIndex.PYPI)
