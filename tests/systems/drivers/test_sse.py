import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.systems.drivers.sse import EventParser, StreamTooLong


def events(*chunks: bytes, **limits: int) -> list[tuple[str, str]]:
    parser = EventParser(**limits)
    return [(event.name, event.data) for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"event: a_delta\nid: 2\ndata: one\n\n", [("a_delta", "one")], id="an event has a name and data"),
        pytest.param(
            b"data:one\n\ndata: two\n\n", [("message", "one"), ("message", "two")], id="without a name it is a message"
        ),
        pytest.param(b"event: a\n\ndata: one\n\n", [("message", "one")], id="a name does not outlive its event"),
        pytest.param(b"data: one\ndata:\ndata:  two\n\n", [("message", "one\n\n two")], id="lines of data are joined"),
        pytest.param(
            b": ping\nretry: 10\ncolour: red\ndata\ndata: one\n\n",
            [("message", "\none")],
            id="comments, retry times and unknown fields are passed over",
        ),
        pytest.param(b"\xef\xbb\xbfdata: one\n\n", [("message", "one")], id="a byte order mark is no part of a field"),
        pytest.param(b"data: one\n\ndata: two\n", [("message", "one")], id="no event without a blank line"),
        pytest.param(b"data: \xff!\n\n", [("message", "\ufffd!")], id="what is no UTF-8 is replaced"),
    ],
)
def test_a_stream_is_read_as_the_standard_says(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert events(stream) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_of_the_standard_ends_a_line(end: bytes) -> None:
    assert events(end.join([b"event: a", b"data: one", b"data: two", b"", b""])) == [("a", "one\ntwo")]


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


PIECES = [
    *(b"data: x", b"data:", b"event: e", b"id: 1", b":", b"\n", b"\r", b"\r\n", b"\n\n"),
    *(b"\xef\xbb\xbf", b"\xc3", b"\xa9"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.lists(st.integers(0, 100), max_size=8))
def test_how_a_stream_is_cut_makes_no_difference(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert outcome([stream[a:b] for a, b in itertools.pairwise(places)]) == outcome([stream])
