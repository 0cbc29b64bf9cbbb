"""The key never shows, however a reply is cut into pieces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memeval.gateway.serving.hosts import Redaction

PARTS = st.lists(st.one_of(st.binary(max_size=5), st.sampled_from([b"KEY", b"a", b"ab", b"/", b"+"])), max_size=20)


def in_pieces(key: str, parts: list[bytes], cuts: list[int]) -> tuple[bytes, bytes]:
    """Return a body that holds the key here and there, and what comes out where it arrives in pieces."""
    whole = b"".join(key.encode() if part == b"KEY" else part for part in parts)
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    redaction = Redaction(key, "memeval-0")
    out = [redaction.feed(whole[first:last]) for first, last in pairwise(places)]
    return whole, b"".join([*out, redaction.rest()])


@given(st.text("ab", min_size=8, max_size=12), PARTS, st.lists(st.integers(0, 200), max_size=8))
def test_pieces_are_redacted_like_the_whole_text(key: str, parts: list[bytes], cuts: list[int]) -> None:
    whole, out = in_pieces(key, parts, cuts)
    assert out == whole.replace(key.encode(), b"memeval-0")


@given(st.text("ab/+", min_size=8, max_size=12), PARTS, st.lists(st.integers(0, 200), max_size=8))
def test_every_key_is_redacted(key: str, parts: list[bytes], cuts: list[int]) -> None:
    _whole, out = in_pieces(key, parts, cuts)
    assert key.encode() not in out


@given(st.lists(st.binary(max_size=20)))
def test_without_a_key_everything_passes_at_once(pieces: list[bytes]) -> None:
    redaction = Redaction(None, "memeval-0")
    assert [redaction.feed(piece) for piece in pieces] == pieces
    assert redaction.rest() == b""


def test_bytes_that_cannot_start_the_key_are_not_delayed() -> None:
    redaction = Redaction("abcdefgh", "memeval-0")
    assert redaction.feed(b"data: 1\n\n") == b"data: 1\n\n"
    assert (redaction.feed(b"data: abc"), redaction.feed(b"x\n\n")) == (b"data: ", b"abcx\n\n")


def test_the_key_is_found_as_json_and_urls_write_it() -> None:
    redaction = Redaction("ab/cd+ef", "memeval-0")
    assert redaction.text(r"ab/cd+ef ab\/cd+ef ab%2Fcd%2Bef ab/cd%2Bef") == "memeval-0 memeval-0 memeval-0 memeval-0"
