"""What MemoryCD calls tasks, settings and runs: names of files, made and read.

Grammar: AgentMemoryWorld/MemoryCD, ``eval_core.py`` and its two entry points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.keys import MemoryCDTask

TASKS = {
    MemoryCDTask.RATING: "rating_prediction",
    MemoryCDTask.TITLE: "review_summarization",
    MemoryCDTask.REVIEW: "review_generation",
    MemoryCDTask.RANKING: "item_ranking",
}
"""What the released code calls the tasks."""

SHORT = dict(zip(DOMAINS, ("B", "Bo", "E", "H"), strict=True))
"""What it calls the domains where a memory is of some of them."""

LONGEST_MODEL = 80
"""Letters of a model's name in the name of a file."""

_NAME = re.compile(
    rf"(?P<setting>single|cross)_(?P<domain>{'|'.join(DOMAINS)})(?:_(?P<sources>srcAll|noMem|src(?:Bo|B|E|H)+))?"
    rf"_(?P<task>{'|'.join(TASKS.values())})_(?P<method>long_context|[^_]+)_(?P<model>.+)"
    r"_users(?P<users>All|\d{1,9})_mem(?P<memory>All|\d{1,9})_test(?P<tests>\d{1,9})_(?P<at>\d{8}_\d{6})"
)


@dataclass(frozen=True)
class RunName:
    """What the name of a run says."""

    cross: bool
    """Whether the memory is of other domains than the one asked about."""
    domain: str
    """The domain asked about."""
    sources: str | None
    """Which domains the memory is of, as :func:`sources_name` writes it; ``None`` where it is of the same one."""
    task: MemoryCDTask
    """What is predicted."""
    method: str
    """What chooses from the memory."""
    model: str
    """What answers."""
    users: int | None
    """Users at most; ``None`` for all."""
    memory: int | None
    """Reviews at most that are chosen; ``None`` for all."""
    tests: int
    """How many of a user's last reviews are asked for."""
    at: str
    """When it was made, as ``YYYYmmdd_HHMMSS``."""

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
        """The setting, as names of files and folders have it."""
        return "cross" if self.cross else "single"

    @property
    def protocol(self) -> str:
        """The protocol of memeval's that it is of."""
        return f"{self.task.value}-{self.setting}"

    @classmethod
    def parsed(cls, name: str) -> RunName | None:
        """Return what a name says; ``None`` where it is no name of a run."""
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
            users=_most(found["users"]),
            memory=_most(found["memory"]),
            tests=int(found["tests"]),
            at=found["at"],
        )


def sources_name(sources: tuple[str, ...]) -> str:
    """Return the name of the domains that a memory is of: ``srcAll`` for all others, else their short names by name."""
    return "srcAll" if set(sources) == set(DOMAINS) else "src" + "".join(SHORT[each] for each in sorted(sources))


def _most(told: str) -> int | None:
    return None if told == "All" else int(told)
