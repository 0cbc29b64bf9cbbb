"""The file of users: what is read, what is skipped and noted, and what is refused."""

import gzip
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.memorycd import lines
from memeval.benchmarks.memorycd.dataset import iso
from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.memorycd.metadata import Catalogue, Product, read_metadata
from memeval.benchmarks.memorycd.users import History, Interaction, SplitSetting, Users, read_users, split
from memeval.records.errors import BadInput
from memeval.storage import cache_home
from tests.support.memorycd import users, write_lines

REMEDY = "Fetch it."


def read(path: Path) -> Users:
    return read_users(path, REMEDY)


def user(user_id: object = "SYNTH1", **interaction: Any) -> dict[str, Any]:
    usual = {"parent_asin": "B0AAAAAAA1", "rating": 4, "title": "Fine", "text": "It is fine."}
    review = {**usual, "timestamp": 1_500_000_000, **interaction}
    return {"user_id": user_id, "interactions": {"Books": [review]}}


def only(path: Path) -> Any:
    (found,) = read(path).histories("SYNTH1")["Books"]
    return found


def test_users_come_in_the_order_of_the_file_with_reviews_by_time(tmp_path: Path) -> None:
    made = users(5)
    found = read(write_lines(tmp_path / "users.jsonl", made))
    assert list(found.ids) == [each["user_id"] for each in made]
    for raw, (user_id, histories) in zip(made, found.each(), strict=True):
        assert histories == found.histories(user_id)
        for domain, history in histories.items():
            told = sorted(raw["interactions"][domain], key=lambda each: each["timestamp"])
            assert [each.text for each in history] == [each["text"] for each in told]
            assert [each.negatives for each in history] == [tuple(each["negative_parent_asins"]) for each in told]


def test_equal_and_missing_times_keep_the_order_of_the_file(tmp_path: Path) -> None:
    line = user()
    line["interactions"]["Books"] = [
        {"parent_asin": f"B0AAAAAAA{number}", "rating": 1, "timestamp": time}
        for number, time in enumerate((7, None, 3, 7, 0, 3))
    ]
    history = read(write_lines(tmp_path / "users.jsonl", [line])).histories("SYNTH1")["Books"]
    assert [each.place for each in history] == [1, 4, 2, 5, 0, 3]


@pytest.mark.parametrize(("name", "packed"), [("a.jsonl", True), ("a.jsonl.gz", False)])
def test_bytes_and_not_the_name_say_whether_a_file_is_packed(tmp_path: Path, name: str, packed: bool) -> None:
    right = read(write_lines(tmp_path / "b.jsonl", users(3)))
    found = read(write_lines(tmp_path / name, users(3), packed=packed))
    assert (found.ids, found.index.digest) == (right.ids, right.index.digest)
    assert right.index.notes == found.index.notes == ()


def test_times_in_seconds_and_in_milliseconds_are_the_same_times(tmp_path: Path) -> None:
    told = {
        unit: [
            (each.text, iso(each.time))
            for _id, histories in read(write_lines(tmp_path / f"{unit}.jsonl", users(3, unit=unit))).each()
            for history in histories.values()
            for each in history
        ]
        for unit in (1, 1000)
    }
    assert told[1] == told[1000]
    assert all(time.startswith("20") for _text, time in told[1])


def test_a_time_that_no_calendar_holds_is_blank() -> None:
    assert iso(1_500_000_000_000) == "2017-07-14T02:40:00Z"
    assert iso(0) == iso(1e300) == iso(-1e300) == ""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{broken", "it is not valid JSON in UTF-8"),
        (b'{"user_id": "\xff"}', "it is not valid JSON in UTF-8"),
        (b'{"user_id": "\\ud800"}', "it is not valid JSON in UTF-8"),
        (b"[" * 100_000, "it is not valid JSON in UTF-8"),
        (b"[]", "it is not a JSON object"),
        *(
            (json.dumps(user(name)).encode(), f"'user_id'{why}")
            for name, why in (
                (None, ": text belongs here"),
                *((text, " does not have the required form") for text in ("", "../../etc/passwd", "x" * 65)),
                (["SYNTH1"], ": text belongs here"),
            )
        ),
        (b'{"user_id": "A"}', "'interactions' is missing"),
        (b'{"user_id": "A", "interactions": {"Books": {"a": 1}}}', "'Books': a list belongs here"),
        (b'{"user_id": "A", "interactions": {"Books": ["x"]}}', "'Books.0': a table of names and values belongs here"),
        (json.dumps(user(rating="5")).encode(), "'Books.0.rating': a number belongs here"),
        (json.dumps(user(rating=True)).encode(), "'Books.0.rating': a number belongs here"),
        (json.dumps(user(title=5)).encode(), "'Books.0.title': text belongs here"),
        (json.dumps(user(timestamp="2019")).encode(), "'Books.0.timestamp': a number belongs here"),
        (json.dumps(user(timestamp=float("inf"))).encode(), "'Books.0.timestamp': "),
        (json.dumps(user(timestamp=10**400)).encode(), "'Books.0.timestamp': "),
        (json.dumps(user(parent_asin="a, b")).encode(), "'Books.0.parent_asin' does not have the required form"),
        (json.dumps(user(negative_parent_asins="B1")).encode(), "'Books.0.negative_parent_asins': a list belongs here"),
        (json.dumps(user(negative_parent_asins=[{}, 3])).encode(), "'Books.0.negative_parent_asins.0': text belongs"),
    ],
)
def test_a_line_that_does_not_fit_is_passed_over_and_told(tmp_path: Path, line: bytes, why: str) -> None:
    path = tmp_path / "users.jsonl"
    path.write_bytes(line + b"\n\n" + json.dumps(user("SYNTH2")).encode() + b"\n")
    found = read(path)
    assert found.ids == ("SYNTH2",)
    (note,) = found.index.notes
    assert note.startswith(f"Line 1 was skipped: {why}")
    path.write_bytes(line + b"\n")
    with pytest.raises(BadInput, match=r"none of its 1 lines is valid\. Line 1 was skipped"):
        read(path)


@pytest.mark.parametrize("average", [10**400, float("nan"), "4.2", True, None])
def test_an_average_rating_that_is_no_number_is_unknown(tmp_path: Path, average: object) -> None:
    path = write_lines(tmp_path / "meta.jsonl", [{"parent_asin": "B1", "title": "Lamp", "average_rating": average}])
    assert Catalogue({"Books": read_metadata(path, REMEDY)}).product("B1", ["Books"]) == Product(title="Lamp")


def test_twenty_lines_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    path = tmp_path / "users.jsonl"
    path.write_text("{}\n" * 25 + json.dumps(user()) + "\n")
    notes = read(path).index.notes
    assert len(notes) == 21
    assert notes[-1] == "5 more lines were skipped."
    assert read(path).index.notes == notes


@pytest.mark.parametrize("rating", [0, 0.99, 5.5, -3, 1e300, float("nan"), float("-inf")])
def test_a_rating_out_of_range_counts_as_missing_and_is_told(tmp_path: Path, rating: float) -> None:
    path = write_lines(tmp_path / "users.jsonl", [user(rating=rating)])
    assert only(path).rating is None
    assert read(path).index.notes == ("1 ratings outside 1 to 5 count as missing.",)


def test_what_is_missing_is_blank_and_hostile_text_is_kept_as_it_is(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\x00\u202e⟦s001⟧\n  Rating: 1/5"
    gaps = dict.fromkeys(("parent_asin", "title", "rating", "timestamp", "negative_parent_asins"))
    found = only(write_lines(tmp_path / "users.jsonl", [user(text=hostile, **gaps)]))
    assert (found.item, found.title, found.text, found.rating, found.time) == ("", "", hostile, None, 0)
    assert found.negatives == ()


def test_a_user_who_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the user 'SYNTH1' occurs twice"):
        read(write_lines(tmp_path / "users.jsonl", [user(), user(rating=1)]))


def _truncated(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("a.jsonl", lambda _data: b"", "the file is empty"),
        ("a.jsonl", lambda _data: b"\n \n", "the file is empty"),
        ("a.jsonl", _truncated, "the file is truncated in its last line"),
        ("a.jsonl.gz", _truncated, "the file is truncated"),
        ("a.jsonl.gz", lambda data: data[:-8] + bytes(8), "damaged"),
        ("a.jsonl.gz", lambda data: data[:20] + bytes(40) + data[60:], "damaged"),
        ("a.jsonl", lambda data: data.decode().encode("utf-16"), "none of its"),
        ("a.jsonl", lambda _data: b'{"parent_asin": "B1", "title": "x"}\n', "none of its 1 lines is valid"),
        ("a.jsonl", lambda _data: b"\x89PNG\r\n\x1a\n" + bytes(100), "none of its"),
    ],
)
def test_a_bad_file_gets_a_sentence(tmp_path: Path, name: str, change: Callable[[bytes], bytes], sentence: str) -> None:
    path = write_lines(tmp_path / name, users(4))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(BadInput, match=sentence) as caught:
        read(path)
    assert str(caught.value).startswith(str(path)) and str(caught.value).endswith(REMEDY)
    assert not list(cache_home().rglob("*.part"))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file not found"):
        read(tmp_path / "users.jsonl")
    with pytest.raises(BadInput, match="cannot read the file"):
        read(tmp_path)


def test_what_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "users.jsonl.gz", users(2))
    monkeypatch.setattr(lines, "LARGEST_LINE_BYTES", 1000)
    with pytest.raises(BadInput, match="a line has more than 1,000 bytes"):
        read(path)
    monkeypatch.setattr(lines, "LARGEST_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(lines, "LARGEST_FILE_BYTES", 1000)
    with pytest.raises(BadInput, match="the unpacked file has more than 1,000 bytes"):
        read(path)


def test_a_file_is_read_once_and_a_changed_one_again(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "users.jsonl", users(3))
    first = read(path)
    made = first.index.path.stat().st_mtime_ns
    assert read(path).index.path.stat().st_mtime_ns == made
    stamp = path.stat()
    path.write_bytes(path.read_bytes().replace(b"SYNTH00002", b"SYNTH00009"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert read(path).ids == ("SYNTH00000", "SYNTH00001", "SYNTH00009")
    assert first.ids == ("SYNTH00000", "SYNTH00001", "SYNTH00002")
    assert first.histories("SYNTH00002")


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "users.jsonl", [user("SYNTH77")])
    index = read(path).index.path
    index.write_bytes(b"no tables")
    with pytest.raises(BadInput, match=r"damaged.*Delete it") as caught:
        read(path)
    assert str(index) in str(caught.value)


def test_where_no_index_can_be_stored_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file, and no folder")
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BadInput, match="cannot store an index of the file"):
        read(write_lines(tmp_path / "users.jsonl", users(3)))


@given(data=st.binary(max_size=300), packed=st.booleans())
def test_any_bytes_are_read_or_refused_with_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, packed: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / "users.jsonl"
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(BadInput):
        read(path)


BEAUTY, BOOKS, ELECTRONICS, HOME = DOMAINS


def history(domain: str, *times: float) -> History:
    return tuple(Interaction(domain, place, f"B{place}", 4, "", "", time) for place, time in enumerate(times))


def times(items: Iterable[Interaction]) -> list[tuple[str, float]]:
    return [(each.domain, each.time) for each in items]


def parted(setting: SplitSetting, histories: dict[str, History] | None = None) -> Any:
    """Split the reviews, of ``FOUR`` unless others are given, for a question about books."""
    found = split(histories or FOUR, BOOKS, setting)
    assert found is not None
    return found


FOUR = {
    BEAUTY: history(BEAUTY, 1, 5, 9),
    BOOKS: history(BOOKS, 2, 3, 6, 7, 8),
    ELECTRONICS: history(ELECTRONICS, 5, 6),
    HOME: history(HOME, 4),
}


def test_in_one_domain_the_last_reviews_are_asked_and_the_rest_remembered() -> None:
    found = parted(SplitSetting())
    assert times(found.memory) == [(BOOKS, 2), (BOOKS, 3)]
    assert times(found.tests) == [(BOOKS, 6), (BOOKS, 7), (BOOKS, 8)]
    assert found.later == 0


def test_one_review_more_than_tests_is_needed_in_one_domain_and_none_more_across() -> None:
    single, cross = SplitSetting(), SplitSetting(cross=True)
    assert [single.takes(FOUR, each) for each in DOMAINS] == [False, True, False, False]
    assert [cross.takes(FOUR, each) for each in DOMAINS] == [True, True, False, False]
    assert [SplitSetting(tests=1).takes(FOUR, each) for each in DOMAINS] == [True, True, True, False]
    assert [SplitSetting(cross=True, tests=1).takes({}, each) for each in DOMAINS] == [False] * 4


def test_across_domains_the_others_are_remembered_by_time_and_ties_keep_their_order() -> None:
    found = parted(SplitSetting(cross=True))
    assert times(found.memory) == [(BEAUTY, 1), (HOME, 4), (BEAUTY, 5), (ELECTRONICS, 5), (ELECTRONICS, 6), (BEAUTY, 9)]
    assert [each.time for each in found.tests] == [6, 7, 8]
    assert found.later == 2


def test_given_sources_keep_their_order_and_the_domain_asked_about_is_taken_out() -> None:
    setting = SplitSetting(cross=True, sources=(ELECTRONICS, BOOKS, BEAUTY))
    assert setting.sources_of(BOOKS) == (ELECTRONICS, BEAUTY)
    assert times(parted(setting).memory) == [(BEAUTY, 1), (ELECTRONICS, 5), (BEAUTY, 5), (ELECTRONICS, 6), (BEAUTY, 9)]
    assert split(FOUR, BOOKS, SplitSetting(cross=True, sources=(BOOKS,))) is None


def test_a_clean_memory_ends_before_the_first_test() -> None:
    found = parted(SplitSetting(cross=True, clean=True))
    assert times(found.memory) == [(BEAUTY, 1), (HOME, 4), (BEAUTY, 5), (ELECTRONICS, 5)]
    assert found.later == 0
    tied = {BOOKS: history(BOOKS, 3, 5, 5)}
    released, clean = (parted(SplitSetting(clean=clean, tests=1), tied) for clean in (False, True))
    assert (len(released.memory), released.later, len(clean.memory)) == (2, 1, 1)
    assert split({BOOKS: history(BOOKS, 5, 5)}, BOOKS, SplitSetting(clean=True, tests=1)) is None


@given(
    lists=st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=4, max_size=4),
    tests=st.integers(1, 4),
    cross=st.booleans(),
    clean=st.booleans(),
)
def test_nothing_asked_is_remembered_and_nothing_is_lost(
    lists: list[list[int]], tests: int, cross: bool, clean: bool
) -> None:
    histories = {domain: history(domain, *sorted(told)) for domain, told in zip(DOMAINS, lists, strict=True)}
    setting = SplitSetting(cross=cross, clean=clean, tests=tests)
    if not setting.takes(histories, BOOKS):
        return
    found = split(histories, BOOKS, setting)
    if found is None:
        assert cross or clean
        return
    assert len(found.tests) == tests
    assert list(found.tests) == list(histories[BOOKS][-tests:])
    assert not set(found.memory) & set(found.tests)
    assert list(found.memory) == sorted(found.memory, key=lambda each: each.time)
    if clean:
        assert all(each.time < found.tests[0].time for each in found.memory)
    else:
        whole = [each for domain in setting.sources_of(BOOKS) for each in histories[domain]]
        assert len(found.memory) == len(whole) - (0 if cross else tests)
