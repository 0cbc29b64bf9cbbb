"""Talking to a system in another process.

A system is someone else's code: it may raise, hang, crash, flood, or look around. It runs in a process of its own, sees
sessions, questions and times, and nothing it does there gets further than a :class:`SystemFailure` with a sentence.
"""

from memeval.systems.child import Launch
from memeval.systems.failures import (
    AdapterMisbehaved,
    AdapterRaised,
    NoAdapter,
    SystemDied,
    SystemFailure,
    SystemNotReady,
    SystemTimedOut,
)
from memeval.systems.messages import Found, Hello, Reply, session_json
from memeval.systems.process import SystemProcess

__all__ = [
    "AdapterMisbehaved",
    "AdapterRaised",
    "Found",
    "Hello",
    "Launch",
    "NoAdapter",
    "Reply",
    "SystemDied",
    "SystemFailure",
    "SystemNotReady",
    "SystemProcess",
    "SystemTimedOut",
    "session_json",
]
