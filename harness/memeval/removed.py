"""Names of editions that memeval no longer has, from ``removed.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memeval.toml import read_words


@dataclass(frozen=True)
class _Removed:
    commit: str
    names: Mapping[str, str]


@cache
def _removed() -> _Removed:
    return read_words("memeval", "removed.toml", _Removed)


def why_removed(name: str) -> str | None:
    """Return what became of a benchmark, rule set, reader, grader or ranking method, in one sentence.

    ``name``: its name and version, such as ``rules@1``. Returns ``None`` if no edition of this name was removed.
    """
    removed = _removed()
    reason = removed.names.get(name)
    return None if reason is None else f"{name} was removed: {reason}. The last commit with it is {removed.commit}."
