import os
import threading

from memeval.systems.channel import KEPT_BYTES, KEPT_LINES, LINE_BYTES, OutputReader, visible


def read(data: bytes) -> tuple[list[str], str]:
    """Return the lines and the last line that a reader makes of ``data``."""
    ours, theirs = os.pipe()
    lines: list[str] = []
    reader = OutputReader(ours, lines.append)
    reader.start()
    with os.fdopen(theirs, "wb") as pipe:
        pipe.write(data)
    reader.join(10)
    assert not reader.is_alive()
    return lines, reader.last_lines[-1] if reader.last_lines else ""


def test_lines_are_handed_on_with_the_last_one_remembered() -> None:
    assert read(b"one\ntwo\n\n") == (["one", "two", ""], "two")


def test_control_characters_and_broken_bytes_are_made_visible() -> None:
    assert read(b"\x1b[2Jgone\xff")[0] == ["\\x1b[2Jgone\\xff"]
    assert visible("a\u202eb") == "a\\u202eb"


def test_a_flood_is_bounded_and_counted() -> None:
    lines, _ = read(b"x" * (KEPT_BYTES + 12_345))
    assert lines[-1] == "12345 more bytes of the system's output were not kept."
    assert sum(map(len, lines[:-1])) == KEPT_BYTES
    assert max(map(len, lines[:-1])) <= LINE_BYTES


def test_a_flood_of_short_lines_is_bounded_too() -> None:
    lines, last = read(b"x\n" * (KEPT_LINES + 10) + b"the end\n")
    assert len(lines) == KEPT_LINES + 1
    assert lines[-1] == "28 more bytes of the system's output were not kept."
    assert last == "the end"


def test_the_last_line_after_a_flood_is_the_one_that_is_remembered() -> None:
    lines, last = read(b"".join(b"%0999d\n" % number for number in range(300)) + b"the end\n")
    assert (len(lines), last) == (257, "the end")
    assert lines[-1] == f"{300_000 + 8 - 256_000} more bytes of the system's output were not kept."


def test_the_thread_ends_with_the_pipe() -> None:
    read(b"")
    assert not [thread for thread in threading.enumerate() if thread.name == "memeval-system-output"]
