"""Runs a system in a separate process and calls it.

A system is foreign code: it may raise, hang, crash, flood its output, or search the machine. It only receives sessions,
questions and times. Each of its errors becomes a :class:`SystemFailure` with a message.
"""

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
