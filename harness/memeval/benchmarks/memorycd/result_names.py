"""MemoryCD's names of tasks, settings and runs: writing and parsing of file names.

Grammar: AgentMemoryWorld/MemoryCD, ``eval_core.py`` and its two entry points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDTask

TASKS = {
    MemoryCDTask.RATING: "rating_prediction",
    MemoryCDTask.TITLE: "review_summarization",
    MemoryCDTask.REVIEW: "review_generation",
    MemoryCDTask.RANKING: "item_ranking",
}
"""The released code's names of the tasks."""

SHORT = dict(zip(DOMAINS, ("B", "Bo", "E", "H"), strict=True))
"""The released code's short names of the domains."""

LONGEST_MODEL = 80
"""Length limit of a model's name in a file name."""

_NAME = re.compile(
    rf"(?P<setting>single|cross)_(?P<domain>{'|'.join(DOMAINS)})(?:_(?P<sources>srcAll|noMem|src(?:Bo|B|E|H)+))?"
    rf"_(?P<task>{'|'.join(TASKS.values())})_(?P<method>long_context|[^_]+)_(?P<model>.+)"
    r"_users(?P<users>All|\d{1,9})_mem(?P<memory>All|\d{1,9})_test(?P<tests>\d{1,9})_(?P<at>\d{8}_\d{6})"
)


@dataclass(frozen=True)
class RunName:
    """The parts of a run's name."""

    cross: bool
    """Whether the memory comes from other domains than the questions."""
    domain: str
    """The domain of the questions."""
    sources: str | None
    """The memory's domains, as written by :func:`sources_name`; ``None`` if it is the questions' domain."""
    task: MemoryCDTask
    """The task."""
    method: str
    """The memory method."""
    model: str
    """The model that answers."""
    users: int | None
    """Largest number of users; ``None`` for all."""
    memory: int | None
    """Largest number of retrieved reviews; ``None`` for all."""
    tests: int
    """Number of a user's last reviews that are predicted."""
    at: str
    """Time of the run, as ``YYYYmmdd_HHMMSS``."""

    def __str__(self) -> str:
        domain = f"{self.domain}_{self.sources}" if self.cross else self.domain
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", self.model.replace("/", "_"))[:LONGEST_MODEL]
        users, memory = ("All" if most is None else most for most in (self.users, self.memory))
        return (
            f"{self.setting}_{domain}_{TASKS[self.task]}_{self.method}_{model}"
            f"_users{users}_mem{memory}_test{self.tests}_{self.at}"
        )

    @property
    def setting(self) -> str:
        """The setting's name in files and folders."""
        return "cross" if self.cross else "single"

    @property
    def protocol(self) -> str:
        """Memeval's protocol of the run."""
        return f"{self.task.value}-{self.setting}"

    @classmethod
    def parsed(cls, name: str) -> RunName | None:
        """Parse a run's name; ``None`` if the name does not follow the grammar."""
        found = _NAME.fullmatch(name)
        if found is None or (found["setting"] == "cross") != (found["sources"] is not None):
            return None
        return cls(
            cross=found["setting"] == "cross",
            domain=found["domain"],
            sources=found["sources"],
            task=next(task for task, called in TASKS.items() if called == found["task"]),
            method=found["method"],
            model=found["model"],
            users=_limit(found["users"]),
            memory=_limit(found["memory"]),
            tests=int(found["tests"]),
            at=found["at"],
        )


def sources_name(sources: tuple[str, ...]) -> str:
    """Return the name of the memory's domains: ``srcAll`` for all, else ``src`` and their short names, sorted."""
    return "srcAll" if set(sources) == set(DOMAINS) else "src" + "".join(SHORT[each] for each in sorted(sources))


def _limit(text: str) -> int | None:
    return None if text == "All" else int(text)
