"""The trial of users apart: they write and search at the same time, and nobody may find what another one wrote."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from memeval.execution.trials.memory import (
    DAY,
    FOUND_ITEMS,
    StoredMemory,
    Written,
    another,
    codes_in,
    sentence,
    sighting,
)
from memeval.execution.trials.stage import Stage
from memeval.records.trials_of_use import Apart, ApartObservation, Servers
from memeval.systems.errors import SystemFailure
from memeval.systems.messages import FoundItem, SystemReply
from memeval.systems.questions import EndedInFlight, Flight, PreparedCall, recall_call, retain_call, search_call


@dataclass(frozen=True)
class _Text:
    """A text of a user."""

    user: str
    written: Written
    banks: bool

    @property
    def content(self) -> str:
        return self.written.text if self.banks else f"{self.user}: {self.written.text}"

    @property
    def bank(self) -> str | None:
        return self.user if self.banks else None


@dataclass
class _Tally:
    """What was observed, by any thread."""

    owners: dict[str, str]
    """The user of each text, by its code."""
    acknowledged: list[_Text] = field(default_factory=list)
    searches: int = 0
    foreign_searches: int = 0
    foreign_first: int = 0
    foreign: set[str] = field(default_factory=set)
    errors: int = 0
    error: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def failed(self, failure: SystemFailure) -> None:
        with self.lock:
            self.errors += 1
            self.error = self.error or sentence(failure)

    def searched(self, text: _Text, items: Sequence[FoundItem]) -> None:
        """Count a search of a user, and what it returned of others."""
        codes = [codes_in(item, self.owners) for item in items]
        owners = [{self.owners[code] for code in found} for found in codes]
        others = [place for place, found in enumerate(owners) if found - {text.user}]
        own = next((place for place, found in enumerate(owners) if text.user in found), len(items))
        with self.lock:
            self.searches += 1
            self.foreign_searches += bool(others)
            self.foreign_first += bool(others) and others[0] < own
            self.foreign |= {code for found in codes for code in found if self.owners[code] != text.user}


@dataclass(frozen=True)
class _Server:
    """A process, and the calls of its users."""

    memory: StoredMemory
    in_flight: int
    """The most calls in flight; 1 for one at a time."""

    def serve(self, texts: Sequence[_Text], tally: _Tally) -> None:
        """Write texts in rounds, and in each round search for those of the round before."""
        before: Sequence[_Text] = ()
        for start in range(0, len(texts), self.in_flight):
            now = texts[start : start + self.in_flight]
            if not self.memory.system.alive:
                return
            self._write(now, tally)
            self._search([text for text in before if text in tally.acknowledged], tally)
            before = now

    def _write(self, texts: Sequence[_Text], tally: _Tally) -> None:
        if self.in_flight == 1 or not self.memory.system.adapter.can("retain"):
            for text in texts:
                try:
                    self.memory.write(text.written, text.bank, content=text.content)
                    tally.acknowledged.append(text)
                except SystemFailure as failure:
                    tally.failed(failure)
            return
        calls = [retain_call(text.content, bank=text.bank, timestamp=DAY, source_id=text.written.id) for text in texts]
        for place, reply in self._replies(calls, self.in_flight, tally):
            if isinstance(reply, SystemReply):
                tally.acknowledged.append(texts[place])
            else:
                tally.failed(reply)

    def _search(self, texts: Sequence[_Text], tally: _Tally) -> None:
        system = self.memory.system
        if not system.adapter.can("recall"):
            calls = [search_call(text.content, FOUND_ITEMS) for text in texts]
        else:
            calls = [recall_call(text.content, FOUND_ITEMS, bank=text.bank) for text in texts]
        for place, reply in self._replies(calls, min(self.in_flight, system.adapter.questions_at_once), tally):
            if isinstance(reply, SystemReply):
                tally.searched(texts[place], reply.items or ())
            else:
                tally.failed(reply)

    def _replies(
        self, calls: Sequence[PreparedCall], most: int, tally: _Tally
    ) -> Iterator[tuple[int, SystemReply | SystemFailure]]:
        system = self.memory.system
        if most > 1:
            try:
                yield from system.replies_to(calls, Flight(most))
            except EndedInFlight as ended:
                tally.failed(ended.failure)
            return
        for place, call in enumerate(calls):
            if not system.alive:
                return
            try:
                yield place, system.reply_to(call)
            except SystemFailure as failure:
                yield place, failure


def apart(trial: Apart, stage: Stage) -> ApartObservation:
    """Run a trial. Raises SystemFailure: the first process did not start."""
    with stage.plain() as ground, ExitStack() as others:
        first = stage.start(ground)
        info = first.system.adapter
        banks = info.can("retain") and info.can("recall")
        texts = _texts(trial, banks)
        tally = _Tally({text.written.code: text.user for text in texts})
        in_flight = trial.in_flight if info.can("texts_together") else 1
        servers = [_Server(first, in_flight)]
        if trial.servers is Servers.TWO:
            try:
                servers.append(_Server(others.enter_context(another(first.system, ground.folder)), in_flight))
            except SystemFailure as failure:
                tally.failed(failure)
                return _observed(trial, banks, in_flight, tally, {}, opened=False)
        _serve(servers, texts, tally)
        others.close()
        return _observed(trial, banks, in_flight, tally, _found(stage, trial, tally), opened=True)


def _texts(trial: Apart, banks: bool) -> list[_Text]:
    """Return all texts, those of the users in turn."""
    users = [f"user-{number}" for number in range(trial.users)]
    return [
        _Text(user, Written(trial.seed, turn * trial.users + number), banks)
        for turn in range(trial.writes)
        for number, user in enumerate(users)
    ]


def _serve(servers: Sequence[_Server], texts: Sequence[_Text], tally: _Tally) -> None:
    """Let all servers work at the same time, each for its share of the users."""
    threads = [
        threading.Thread(
            target=server.serve,
            args=(texts[number :: len(servers)], tally),
            name=f"memeval-users-{number}",
            daemon=True,
        )
        for number, server in enumerate(servers)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # an interrupted run: only one thread at a time may wait for a process
        for server in servers:
            server.memory.system.kill()
        while alive := [thread for thread in threads if thread.is_alive()]:
            with suppress(KeyboardInterrupt):  # a second one: the threads end at once, for their processes are gone
                alive[0].join()
        raise


def _found(stage: Stage, trial: Apart, tally: _Tally) -> dict[_Text, int]:
    """Return how often each acknowledged text is there. Several processes are first replaced by a new one."""
    found: dict[_Text, int] = {}
    try:
        memory = StoredMemory(stage.system)
        if trial.servers is Servers.TWO or not stage.system.alive:
            stage.system.close()
            memory = stage.restart()
        stage.system.settle()
        listed = memory.listed() or ()
        for text in tally.acknowledged:
            items = memory.search(text.content, text.bank)
            tally.searched(text, items)
            found[text] = max(sighting(text.written, each).whole for each in (items, listed))
    except SystemFailure as failure:
        tally.failed(failure)
    return found


def _observed(
    trial: Apart, banks: bool, in_flight: int, tally: _Tally, found: dict[_Text, int], *, opened: bool
) -> ApartObservation:
    counts = [found.get(text, 0) for text in tally.acknowledged]
    return ApartObservation(
        banks=banks,
        in_flight=in_flight,
        opened=opened,
        written=trial.users * trial.writes if opened else 0,
        acknowledged=len(tally.acknowledged),
        lost=sum(count == 0 for count in counts),
        doubled=sum(count > 1 for count in counts),
        searches=tally.searches,
        foreign_searches=tally.foreign_searches,
        foreign_first=tally.foreign_first,
        foreign_texts=len(tally.foreign),
        errors=tally.errors,
        error=tally.error,
    )
