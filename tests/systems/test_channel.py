import itertools
import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.systems.channel import Channel, LineBuffer, LineEnded, LineTimedOut, LineTooLong

LIMIT = 50


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes at the given places, in whatever order they come."""
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(marks)]


@given(
    lines=st.lists(st.binary(max_size=LIMIT).map(lambda line: line.replace(b"\n", b" "))),
    rest=st.binary(max_size=LIMIT).map(lambda line: line.replace(b"\n", b" ")),
    places=st.lists(st.integers(min_value=0, max_value=5000)),
)
def test_lines_come_out_whole_however_the_stream_is_cut(lines: list[bytes], rest: bytes, places: list[int]) -> None:
    buffer = LineBuffer(LIMIT)
    stream = b"".join(line + b"\n" for line in lines) + rest
    assert [line for chunk in cut(stream, places) for line in buffer.feed(chunk)] == lines
    assert buffer.feed(b"\n") == [rest]


@given(
    excess=st.integers(min_value=1, max_value=200),
    ended=st.booleans(),
    before=st.integers(min_value=0, max_value=5),
    places=st.lists(st.integers(min_value=0, max_value=5000)),
)
def test_a_line_beyond_the_limit_is_refused_however_the_stream_is_cut(
    excess: int, ended: bool, before: int, places: list[int]
) -> None:
    buffer = LineBuffer(LIMIT)
    stream = b"short\n" * before + b"x" * (LIMIT + excess) + (b"\n" if ended else b"")
    with pytest.raises(LineTooLong):
        for chunk in cut(stream, places):
            buffer.feed(chunk)


class Ends:
    """A channel to this very process: what a child would write and read is written and read by the test."""

    def __init__(self, limit: int = 10_000_000) -> None:
        self.read_here, write_to = os.pipe()
        read_from, self.write_here = os.pipe()
        self.channel = Channel(os.getpid(), write_to, read_from, limit)
        self.descriptors = [self.read_here, write_to, read_from, self.write_here]


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ends]:
    monkeypatch.setattr("memeval.systems.channel.has_ended", lambda pid: False)
    made = Ends()
    yield made
    for descriptor in made.descriptors:
        os.close(descriptor)


def test_a_line_that_does_not_come_is_not_waited_for_beyond_the_limit(ends: Ends) -> None:
    os.write(ends.write_here, b"half a li")
    started = time.monotonic()
    with pytest.raises(LineTimedOut):
        ends.channel.receive(0.05)
    assert 0.04 < time.monotonic() - started < 2


def test_lines_that_arrive_together_are_given_one_by_one(ends: Ends) -> None:
    os.write(ends.write_here, b"one\ntwo\nthr")
    assert [ends.channel.receive(1), ends.channel.receive(1)] == [b"one", b"two"]
    os.write(ends.write_here, b"ee\n")
    assert ends.channel.receive(1) == b"three"


def test_replies_are_read_while_what_is_sent_does_not_fit_into_the_pipe(ends: Ends) -> None:
    ends.channel.send(b"x" * 5_000_000 + b"\n")
    os.write(ends.write_here, b"reply\n")
    assert ends.channel.receive(1) == b"reply"


def test_a_closed_pipe_is_the_end(ends: Ends) -> None:
    os.write(ends.write_here, b"last\nhalf")
    os.close(ends.write_here)
    ends.descriptors.remove(ends.write_here)
    assert ends.channel.receive(1) == b"last"
    with pytest.raises(LineEnded):
        ends.channel.receive(1)
