"""Failures of a system. Each has a message that the run records."""


class SystemFailure(Exception):
    """A call to a system failed; the text is the problem and, if known, the remedy.

    Attributes:
        remedy: how to fix it, as a sentence; blank if unknown.
        trace: frames of the system's code, one line each; empty if unknown.
        at: the adapter's own innermost frame, such as ``adapter.py:12 in query``; blank if unknown.
    """

    def __init__(self, problem: str, trace: tuple[str, ...] = (), *, remedy: str = "", at: str = "") -> None:
        self.problem, self.trace, self.remedy, self.at = problem, trace, remedy, at
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        return f"{self.problem} {self.remedy}" if self.remedy else self.problem


class AdapterRaised(SystemFailure):
    """The adapter raised an exception. The process keeps running."""


class AdapterMisbehaved(SystemFailure):
    """The adapter returned an invalid value.

    After a wrong type, too large a value or text that is not UTF-8, the process keeps running. After output that breaks
    the protocol, it is ended.
    """


class NoAdapter(SystemFailure):
    """There is no adapter class, or not the requested one."""


class SystemTimedOut(SystemFailure):
    """A call took longer than its limit. The process was ended."""


class SystemDied(SystemFailure):
    """The process, or the server that its driver started, ended by itself."""


class SystemNotReady(SystemFailure):
    """``settle`` returned false, or did not return in time."""
