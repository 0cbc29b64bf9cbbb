"""A small correct memory, and variants of it with one defect each."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import namedtuple

TYPE_CHECKING = False  # to import typing takes a tenth of the time in which a process with a memory starts
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

_COMMON = "a an at did do does for have i in is it me my of on our s that the this to was we what which who with"
COMMON = frozenset(_COMMON.split())


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - COMMON


class Note(namedtuple("Note", "text timestamp speaker source_id bank tags")):
    @property
    def line(self) -> str:
        return f"[{self.timestamp}] {self.speaker}: {self.text}"


class Correct:
    """Stores every turn as a dated line, and returns the lines that share most words with a question."""

    questions_at_once = 8

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.own = threading.local()

    def reset(self) -> None:
        self.notes.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            self.keep(Note(turn["content"], timestamp, self.speaker(turn), turn["turn_id"], "main", ()))

    def speaker(self, turn: dict[str, Any]) -> str:
        return str(turn.get("speaker") or turn["role"])

    def retain(
        self, content: str, *, bank: str = "main", timestamp: str = "", tags: Iterable[str] = (), source_id: str = ""
    ) -> None:
        self.keep(Note(content, timestamp, "user", source_id, bank, tuple(tags)))

    def keep(self, note: Note) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def settle(self, timeout: float) -> bool:
        return True

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return [{"text": note.line, "source_ids": [note.source_id]} for note in self.best(query, self.notes)[:k]]

    def recall(
        self,
        query: str,
        k: int = 10,
        *,
        bank: str = "main",
        tags: Iterable[str] | None = None,
        since: str = "",
        until: str = "9",
    ) -> list[str]:
        fitting = [
            note
            for note in self.notes
            if note.bank == bank and (tags is None or set(tags) & set(note.tags)) and since <= note.timestamp < until
        ]
        return [note.line for note in self.best(query, fitting)[:k]]

    def query(self, question: str, timestamp: str = "now") -> str:
        best = self.best(question, self.notes)
        self.own.tokens = len(best[0].line.split()) if best else 0
        return best[0].line if best else "I do not know."

    def best(self, query: str, notes: list[Note]) -> list[Note]:
        wanted = words(query)
        scores = {note: len(wanted & words(f"{note.speaker} {note.text}")) for note in notes}
        newest_first = sorted(scores, key=lambda note: note.timestamp, reverse=True)
        return sorted((note for note in newest_first if scores[note]), key=lambda note: -scores[note])

    def get_context_tokens(self) -> int:
        return int(self.own.tokens)

    def forget(self, bank: str | None = None, ids: Iterable[str] | None = None, query: str | None = None) -> int:
        gone = self.to_forget(bank, ids, query)
        self.notes = [note for note in self.notes if note not in gone]
        return len(gone)

    def to_forget(self, bank: str | None, ids: Iterable[str] | None, query: str | None) -> list[Note]:
        return [
            note
            for note in self.notes
            if bank in (None, note.bank) and (ids is None or note.source_id in set(ids)) and query in (None, note.text)
        ]

    def export_memories(self) -> list[dict[str, Any]]:
        return [{"text": note.text, "source_ids": [note.source_id]} for note in self.notes]


class IndexesTooLate(Correct):
    """Reports that it is ready while it still indexes in the background."""

    def keep(self, note: Note) -> None:
        indexing = threading.Timer(30, super().keep, (note,))
        indexing.daemon = True
        indexing.start()


class IgnoresReset(Correct):
    def reset(self) -> None:
        pass


class KeepsArchiveAcrossReset(Correct):
    """Stores notes in a class attribute, and restores them at the next session."""

    archive: ClassVar[list[Note]] = []

    def keep(self, note: Note) -> None:
        self.archive.append(note)
        self.notes = list(self.archive)


class SharesFile(Correct):
    """Stores the notes of all instances in one file."""

    def __init__(self) -> None:
        from pathlib import Path

        super().__init__()
        self.path = Path(os.environ["SHARED_FILE"])

    def reset(self) -> None:
        self.notes.clear()
        self.path.write_text("")

    def keep(self, note: Note) -> None:
        with self.path.open("a") as file:
            file.write(f"{note.text}\n")

    def best(self, query: str, notes: list[Note]) -> list[Note]:
        with self.path.open() as file:
            return super().best(query, [Note(line.strip(), "2020-01-01", "user", "s001", "main", ()) for line in file])


class BreaksOnEmoji(Correct):
    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if any(ord(character) > 0xFFFF for character in turn["content"]):
                raise ValueError("character out of range")
        super().ingest_session(session, timestamp)


class RefusesLongMessages(Correct):
    def keep(self, note: Note) -> None:
        if len(note.text) > 8000:
            raise ValueError("too many tokens for the embedding model")
        super().keep(note)


class LosesDates(Correct):
    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        super().ingest_session(session, "today")


class DropsAssistant(Correct):
    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        turns = [turn for turn in session["turns"] if turn["role"] == "user"]
        super().ingest_session({**session, "turns": turns}, timestamp)


class KeepsFirstSpeakerOnly(Correct):
    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        first = session["turns"][0].get("speaker")
        turns = [turn for turn in session["turns"] if turn.get("speaker") == first]
        super().ingest_session({**session, "turns": turns}, timestamp)


class MixesPeople(Correct):
    def speaker(self, turn: dict[str, Any]) -> str:
        return str(turn["role"])


class FoldsToAscii(Correct):
    def keep(self, note: Note) -> None:
        super().keep(note._replace(text=note.text.encode("ascii", "ignore").decode()))


class CutsLongMessages(Correct):
    def keep(self, note: Note) -> None:
        super().keep(note._replace(text=note.text[:8000]))


class RefusesKnownSessions(Correct):
    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        if any(note.source_id == session["turns"][0]["turn_id"] for note in self.notes):
            raise KeyError("UNIQUE constraint failed: sessions.id")
        super().ingest_session(session, timestamp)


class IgnoresK(Correct):
    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return super().search(query, 10)


class IgnoresFilters(Correct):
    """Keeps banks apart, and ignores tags and times."""

    def recall(self, query: str, k: int = 10, *, bank: str = "main", **_filters: Any) -> list[str]:
        return [note.line for note in self.best(query, [note for note in self.notes if note.bank == bank])[:k]]


class HidesForgottenTexts(Correct):
    """Hides a forgotten text from queries in the same words, and finds it by others."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden: list[str] = []

    def forget(self, bank: str | None = None, ids: Iterable[str] | None = None, query: str | None = None) -> int:
        hidden = [note.text for note in self.to_forget(bank, ids, query)]
        self.hidden += hidden
        return len(hidden)

    def best(self, query: str, notes: list[Note]) -> list[Note]:
        def is_hidden(note: Note) -> bool:
            return note.text in self.hidden and len(words(query) & words(note.text)) > 2

        return [note for note in super().best(query, notes) if not is_hidden(note)]


class TripsOverIds(Correct):
    """Cannot forget by the ids of memeval, and has no other way."""

    def forget(self, ids: Iterable[str], bank: str | None = None) -> int:  # type: ignore[override]
        raise ValueError(f"unknown: {next(iter(ids))}")


class ForgetsByText(Correct):
    """Forgets by a query in a bank, and knows no ids."""

    def forget(self, query: str, bank: str | None = None) -> int:  # type: ignore[override]
        return super().forget(bank, None, query)


class MatchesBanksByTheirStart(Correct):
    """A bank also returns the texts of banks whose names begin with its own."""

    def recall(
        self, query: str, k: int = 10, *, bank: str = "main", tags: Any = None, since: str = "", until: str = "9"
    ) -> list[str]:
        banks = sorted({note.bank for note in self.notes if note.bank.startswith(bank)})
        filters: Any = {"tags": tags, "since": since, "until": until}
        return [line for each in banks for line in Correct.recall(self, query, k, bank=each, **filters)]


class DeletesTheWholeBank(Correct):
    def forget(self, bank: str | None = None, ids: Iterable[str] | None = None, query: str | None = None) -> int:
        return super().forget(bank) if bank is not None else super().forget(bank, ids, query)


class RemembersDeletions(Correct):
    """Never accepts a text again that was forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.forgotten: set[str] = set()

    def reset(self) -> None:
        super().reset()
        self.forgotten.clear()

    def forget(self, bank: str | None = None, ids: Iterable[str] | None = None, query: str | None = None) -> int:
        self.forgotten |= {note.text for note in self.to_forget(bank, ids, query)}
        return super().forget(bank, ids, query)

    def keep(self, note: Note) -> None:
        if note.text not in self.forgotten:
            super().keep(note)


class KeepsBanks(Correct):
    def forget(self, bank: str | None = None, ids: Iterable[str] | None = None, query: str | None = None) -> int:
        return 0 if ids is None and query is None else super().forget(bank, ids, query)


class ExportsForgottenTexts(Correct):
    def __init__(self) -> None:
        super().__init__()
        self.archive: list[Note] = []

    def keep(self, note: Note) -> None:
        super().keep(note)
        self.archive.append(note)

    def export_memories(self) -> list[dict[str, Any]]:
        return [{"text": note.text} for note in self.archive]


class NamesNoSource(Correct):
    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return [{"text": note.line} for note in self.best(query, self.notes)[:k]]


class NamesTheFirstSession(Correct):
    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return [{"text": note.line, "source_ids": ["s001"]} for note in self.best(query, self.notes)[:k]]


class AnswersAtRandom(Correct):
    def query(self, question: str, timestamp: str = "now") -> str:
        return f"{super().query(question)} (confidence {os.urandom(4).hex()})"


class PrefersEarlierResults(Correct):
    """Counts how often each note is returned, and prefers notes with a count."""

    def __init__(self) -> None:
        super().__init__()
        self.uses: dict[Note, int] = {}

    def reset(self) -> None:
        super().reset()
        self.uses.clear()

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        used = sorted(self.uses, key=lambda note: -self.uses[note])
        found = super().search(query, k)[:1]
        for note in self.best(query, self.notes)[:1]:
            self.uses[note] = self.uses.get(note, 0) + 1
        return found + [{"text": note.line} for note in used if note in self.notes][: k - len(found)]


class SharesTheQuestion(Correct):
    """Holds the running question in the instance, where another one replaces it."""

    def query(self, question: str, timestamp: str = "now") -> str:
        self.question = question
        time.sleep(0.02)
        return super().query(self.question, timestamp)


class RemembersQuestions(Correct):
    """Stores the statements in a question."""

    def query(self, question: str, timestamp: str = "now") -> str:
        answer = super().query(question)
        for sentence in re.split(r"(?<=[.!?])\s+", question):
            if sentence.endswith("."):
                self.keep(Note(sentence, timestamp, "user", "q", "main", ()))
        return answer


class CountsNoTokens(Correct):
    def get_context_tokens(self) -> int:
        return 0


class RemembersNothing(Correct):
    def keep(self, note: Note) -> None:
        pass


class SearchesOnly:
    """Returns items only: no answer and no context."""

    questions_at_once = 8

    def __init__(self) -> None:
        self.memory = Correct()

    def reset(self) -> None:
        self.memory.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.memory.ingest_session(session, timestamp)

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.memory.search(query, k)


class HangsOnLongMessages(Correct):
    def keep(self, note: Note) -> None:
        if len(note.text) > 8000:
            time.sleep(60)
        super().keep(note)


class Hangs(Correct):
    def keep(self, note: Note) -> None:
        time.sleep(60)


class DiesOnRightToLeft(Correct):
    def keep(self, note: Note) -> None:
        if "\u202b" in note.text:
            os._exit(3)
        super().keep(note)
