"""How a system can fail, each with a sentence that goes on record."""

from __future__ import annotations


class SystemFailure(Exception):
    """A system did not do what it was asked to; the text is a sentence, with what to do where that is known.

    Attributes:
        problem: what happened, and where, as a sentence.
        remedy: what to do, as a sentence; blank where nobody can say.
        trace: where in the system's own code it happened, one line a frame; empty where unknown.
        at: the adapter's own innermost frame, such as ``adapter.py:12 in query``; blank where unknown.
    """

    def __init__(self, problem: str, trace: tuple[str, ...] = (), *, remedy: str = "", at: str = "") -> None:
        self.problem, self.trace, self.remedy, self.at = problem, trace, remedy, at
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """What happened and what to do."""
        return f"{self.problem} {self.remedy}" if self.remedy else self.problem


class AdapterRaised(SystemFailure):
    """The adapter raised an exception. The process goes on."""


class AdapterMisbehaved(SystemFailure):
    """The adapter gave what it may not give.

    After a wrong type, too much, or text that no file can hold, the process goes on; after rubbish where replies
    belong, it is gone.
    """


class NoAdapter(SystemFailure):
    """There is nothing to load: no class, or not the one asked for."""


class SystemTimedOut(SystemFailure):
    """A call took longer than its limit. The process is gone."""


class SystemDied(SystemFailure):
    """The process, or the server that its driver started, ended by itself. The process is gone."""


class SystemNotReady(SystemFailure):
    """``settle`` said that not everything taken in can be asked for, or did not come back in time."""
