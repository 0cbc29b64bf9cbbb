"""An object of the caller instead of a process: what is sent together overlaps, and nothing else does."""

import asyncio
import gc
import weakref
from contextlib import closing

from memeval.records.track import Limits
from memeval.systems.live import LiveSystem
from memeval.systems.questions import retain_call
from tests.systems.helpers import sessions


class Waits:
    """Each call ends later than the one after it would."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.now = self.most = 0

    async def reset(self) -> None:
        await asyncio.sleep(0.05)

    async def ingest_session(self, session: dict[str, str], timestamp: str) -> None:
        await self.keep(session["session_id"])

    async def retain(self, content: str) -> None:
        await self.keep(content)

    async def query(self, question: str) -> str:
        return " ".join(self.told)

    async def keep(self, text: str) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.05 / (1 + len(self.told)))
        self.now -= 1
        self.told.append(text)


def test_sessions_are_ingested_one_after_the_other_also_behind_an_asynchronous_reset() -> None:
    memory = Waits()
    with closing(LiveSystem(memory, Limits(), print)) as live:
        live.ingest(sessions(4), afresh=True)
        assert live.ask("?").answer == " ".join(memory.told)
    assert len(memory.told) == 4 and memory.told == sorted(memory.told)
    assert memory.most == 1


def test_texts_that_are_sent_together_overlap() -> None:
    memory = Waits()
    with closing(LiveSystem(memory, Limits(), print)) as live:
        seconds = live.retain_together([retain_call(f"text {number}") for number in range(4)], 4)
    assert sorted(memory.told) == [f"text {number}" for number in range(4)]
    assert len(seconds) == 4 and memory.most == 4


class Holds:
    """Stands for an index of many megabytes."""

    def reset(self) -> None: ...

    def ingest_session(self, session: dict[str, str], timestamp: str) -> None: ...

    def query(self, question: str) -> str:
        return "x"


def test_what_a_closed_system_held_is_free_at_once() -> None:
    gc.disable()  # verify collects no garbage while it checks a run
    try:
        memory = Holds()
        held = weakref.ref(memory)
        with closing(LiveSystem(memory, Limits(), print)) as live:
            live.ingest(sessions(1), afresh=True)
            live.ask("?")
        del memory, live
        assert held() is None
    finally:
        gc.enable()
