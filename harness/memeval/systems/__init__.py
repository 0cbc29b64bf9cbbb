"""Runs a system in a separate process and calls it.

A system is foreign code: it may raise, hang, crash, flood its output, or search the machine. It only receives sessions,
questions and times. Each of its errors becomes a :class:`SystemFailure` with a message.

The names are imported when they are used: a command line that only needs the name of a sandbox mode starts no process.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memeval.systems.child import Launch
    from memeval.systems.errors import (
        AdapterMisbehaved,
        AdapterRaised,
        NoAdapter,
        SystemDied,
        SystemFailure,
        SystemNotReady,
        SystemTimedOut,
    )
    from memeval.systems.messages import AdapterInfo, FoundItem, SystemReply, session_json
    from memeval.systems.process import SystemProcess

__all__ = [
    "AdapterInfo",
    "AdapterMisbehaved",
    "AdapterRaised",
    "FoundItem",
    "Launch",
    "NoAdapter",
    "SystemDied",
    "SystemFailure",
    "SystemNotReady",
    "SystemProcess",
    "SystemReply",
    "SystemTimedOut",
    "session_json",
]

_MODULES = {
    "Launch": "child",
    "SystemProcess": "process",
    **dict.fromkeys(("AdapterInfo", "FoundItem", "SystemReply", "session_json"), "messages"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a name when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
        return value
