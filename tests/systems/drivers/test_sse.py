import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.systems.drivers.sse import EventParser, StreamTooLong


def events(*chunks: bytes, **limits: int) -> list[tuple[str, str]]:
    parser = EventParser(**limits)
    return [(event.name, event.data) for chunk in chunks for event in parser.feed(chunk)]


def test_an_event_has_a_name_and_data() -> None:
    assert events(b"event: answer_delta\nid: 2\ndata: one\n\n") == [("answer_delta", "one")]


def test_an_event_without_a_name_is_a_message() -> None:
    assert events(b"data:one\n\ndata: two\n\n") == [("message", "one"), ("message", "two")]


def test_a_name_does_not_outlive_its_event() -> None:
    assert events(b"event: a\n\ndata: one\n\n") == [("message", "one")]


def test_data_of_several_lines_is_joined_by_line_breaks() -> None:
    assert events(b"data: one\ndata:\ndata:  two\n\n") == [("message", "one\n\n two")]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_of_the_standard_ends_a_line(end: bytes) -> None:
    assert events(end.join([b"event: a", b"data: one", b"data: two", b"", b""])) == [("a", "one\ntwo")]


def test_comments_retry_times_and_unknown_fields_are_passed_over() -> None:
    assert events(b": ping\nretry: 10\ncolour: red\ndata\ndata: one\n\n") == [("message", "\none")]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert events(b"\xef\xbb\xbfdata: one\n\n") == [("message", "one")]


def test_an_event_that_no_blank_line_ends_is_none() -> None:
    assert events(b"data: one\n\ndata: two\n") == [("message", "one")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert events(b"data: \xff!\n\n") == [("message", "\ufffd!")]


def test_a_line_of_more_than_a_mebibyte_is_taken() -> None:
    assert len(events(b"data: " + b"x" * (3 << 20) + b"\n\n")[0][1]) == 3 << 20


def test_a_line_that_never_ends_is_refused() -> None:
    with pytest.raises(StreamTooLong, match="a line longer than 100 bytes"):
        events(*itertools.repeat(b"data: and on ", 9), line_bytes=100)


def test_a_stream_that_never_ends_is_refused_after_what_was_allowed() -> None:
    parser, seen = EventParser(total_bytes=35), []
    with pytest.raises(StreamTooLong, match="exceeds 35 bytes"):
        for _ in range(9):
            seen += [event.data for event in parser.feed(b"data: one\n\n")]
    assert seen == ["one"] * 3


def outcome(chunks: list[bytes]) -> list[tuple[str, str] | str]:
    """What comes of a stream: its events, and what it was refused for."""
    parser = EventParser(line_bytes=12, total_bytes=60)
    seen: list[tuple[str, str] | str] = []
    try:
        for chunk in chunks:
            for event in parser.feed(chunk):
                seen.append((event.name, event.data))
    except StreamTooLong as error:
        seen.append(str(error))
    return seen


pieces = st.sampled_from(
    [
        b"data: x",
        b"data:",
        b"event: e",
        b"id: 1",
        b":",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xa9",
    ]
)


@given(st.lists(pieces, max_size=30).map(b"".join), st.lists(st.integers(0, 100), max_size=8))
def test_how_a_stream_is_cut_makes_no_difference(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert outcome([stream[a:b] for a, b in itertools.pairwise(places)]) == outcome([stream])
