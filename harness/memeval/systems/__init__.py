"""Talking to a system in another process.

A system is someone else's code: it may raise, hang, crash, flood, or look around. It runs in a process of its own, sees
sessions, questions and times, and nothing it does there gets further than a :class:`SystemFailure` with a sentence.
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
