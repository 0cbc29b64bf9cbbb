"""Files of JSON lines, plain or gzip as their bytes say: read as a stream, with what was passed over told."""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from memeval.records.base import Digest
from memeval.records.errors import BadInput

LARGEST_LINE_BYTES = 256 << 20
"""A longer line is refused: the longest history that is known has some MB."""

LARGEST_FILE_BYTES = 16 << 30
"""What unpacks to more is refused."""

MOST_TOLD = 20
"""Lines that were passed over are named up to this many; the rest are counted."""

_GZIP = b"\x1f\x8b"


class Misfit(ValueError):
    """A line that is not what it should be; the text says why, with none of the line's own words."""


class JsonLines:
    """The objects of a file of JSON lines, in order; a line that holds none is passed over, and told.

    Args:
        path: the file.
        remedy: what to do about a bad file, as a sentence.
    """

    def __init__(self, path: Path, remedy: str) -> None:
        self.path, self._remedy = path, remedy
        self._hash = hashlib.sha256()
        self.count = 0
        """Lines read so far, but for blank ones."""
        self.passed = 0
        """How many of them were passed over."""
        self._told: list[str] = []
        self._odd: Counter[str] = Counter()

    @property
    def digest(self) -> Digest:
        """Digest of the unpacked bytes, once :meth:`objects` is exhausted."""
        return "sha256:" + self._hash.hexdigest()

    @property
    def notes(self) -> list[str]:
        """What is odd, as sentences: the first twenty lines passed over, how many more, and what is counted."""
        more = self.passed - len(self._told)
        counted = [f"{count:,} {what}." for what, count in self._odd.items()]
        return [*self._told, *([f"{more:,} more lines were passed over."] if more else []), *counted]

    def count_odd(self, what: str) -> None:
        """Count something that is let be, and told with its number in front: ``ratings that count as missing``."""
        self._odd[what] += 1

    def objects(self, read: Callable[[dict[str, Any]], None]) -> None:
        """Have every object read.

        Args:
            read: is given each object; may raise :class:`Misfit` to have its line passed over.

        Raises:
            BadInput: the file cannot be read, is empty or cut off, is no gzip file though it begins like one, has a
                line or unpacks to more than can be, or no line of it is of use.
        """
        number = 0
        last = b""
        problem = ""
        for line in self._raw():
            number += 1
            last = line
            if not line.strip():
                continue
            self.count += 1
            problem = self._misfit(line, read)
            if problem:
                self.passed += 1
                if len(self._told) < MOST_TOLD:
                    self._told.append(f"Line {number} was passed over: {problem}.")
        if not self.count:
            raise self._refused("the file is empty.")
        if self.passed == self.count:
            raise self._refused(f"none of its {self.count:,} lines is of use. {self._told[0]}")
        if problem and not last.endswith(b"\n"):
            raise self._refused(f"the file is cut off within line {number}, its last: {problem}.")

    def _misfit(self, line: bytes, read: Callable[[dict[str, Any]], None]) -> str:
        try:
            found = from_json(line)
            if not isinstance(found, dict):
                return "it is no JSON object"
            read(found)
        except Misfit as error:
            return str(error)
        except (ValueError, RecursionError):
            return "it is no JSON in UTF-8"
        return ""

    def _raw(self) -> Iterator[bytes]:
        """Yield the lines with their ends, and digest them."""
        total = 0
        try:
            with self.path.open("rb") as file:
                packed = file.peek(2)[:2] == _GZIP
                stream = gzip.GzipFile(fileobj=file) if packed else file
                while line := stream.readline(LARGEST_LINE_BYTES + 1):
                    total += len(line)
                    if len(line) > LARGEST_LINE_BYTES:
                        raise self._refused(f"it has a line of more than {LARGEST_LINE_BYTES:,} bytes.")
                    if total > LARGEST_FILE_BYTES:
                        raise self._refused(f"it unpacks to more than {LARGEST_FILE_BYTES:,} bytes.")
                    self._hash.update(line)
                    yield line
        except EOFError:
            raise self._refused(
                f"the file is cut off: it unpacks to {total:,} bytes, and more should follow."
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._refused(f"the file begins like a gzip file and is damaged ({error}).") from None
        except OSError as error:
            raise self._refused(f"the file cannot be read ({error.strerror or error}).") from None

    def _refused(self, problem: str) -> BadInput:
        return BadInput(problem, where=self.path, remedy=self._remedy)


def is_packed(path: Path) -> bool:
    """Return whether a file is gzip, by its bytes."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that can be reckoned with: JSON's whole numbers may be too large for that."""
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        return False
