"""A notebook: dated statements, found by their words, the newest first."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any, NamedTuple

_COMMON = """
a about am an and any anyone are as at be been being by can could currently did do does doing for from had has have
having he her his how i in is it its kind me my now of on or our s she should so some that the their them then there
these they this to today use used uses using was we were what when where which who whose why will with would you your
"""
COMMON = frozenset(_COMMON.split())

PAST = re.compile(r"\b(before|previous(ly)?|formerly|earlier|used to|prior to|originally|at first)\b", re.I)
CHANGE = re.compile(
    r"\b(switch|mov|migrat|replac|chang|stopp?|quit|left|sold|no longer|instead of|gave up|used to|dropp?)\w*\b", re.I
)

CLOSE_ENOUGH = 0.6
"""Notes that score at least this share of the best are taken to be about the same matter."""

STEM = 5
"""Letters of a word that are compared."""

SHORT = 2
"""How many sentences are kept together as one note."""

NOTES_READ = 5
"""How many notes a question is answered from, at most."""

UNKNOWN = "I don't know: nothing in my notes bears on this."


class Note(NamedTuple):
    """One statement."""

    order: int
    date: str
    source: str
    line: str
    text: str
    terms: frozenset[str]


def terms(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, cut to their beginnings, so that their forms fall together."""
    words = (word.removesuffix("s") for word in re.findall(r"[\w+#]+", text.lower()) if word not in COMMON)
    return frozenset(word[:STEM] for word in words)


def statements(content: str) -> list[str]:
    """Return what a turn states: the whole of a short one, each sentence of a longer one, and no question."""
    sentences = [text for text in re.split(r"(?<=[.!?])\s+", content.strip()) if not text.endswith("?")]
    return sentences if len(sentences) > SHORT else [" ".join(sentences)]


class Notebook:
    """Keeps what was stated and answers with the newest note that fits."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.spread: Counter[str] = Counter()
        """In how many notes a term occurs."""

    def reset(self) -> None:
        self.notes.clear()
        self.spread.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if turn["role"] == "assistant":
                continue
            speaker = turn.get("speaker") or turn["role"]
            for text in statements(turn["content"]):
                found = terms(text)
                if not found:
                    continue
                line = f"[{timestamp}] {speaker}: {text}"
                source = turn.get("turn_id") or session["session_id"]
                self.notes.append(Note(len(self.notes), timestamp, source, line, text, found))
                self.spread.update(found)

    def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        known = [note for note in self.notes if timestamp == "now" or note.date <= timestamp]
        wanted = terms(question)
        scores = {note.order: self.fit(wanted, note) for note in known}
        best = max(scores.values(), default=0.0)
        if best <= 0:
            return {"answer": UNKNOWN, "context": "", "items": []}
        about = [note for note in known if scores[note.order] >= CLOSE_ENOUGH * best]
        newest_first = sorted(about, key=lambda note: (note.date, note.order), reverse=True)[:NOTES_READ]
        asks_for_past = PAST.search(question) is not None and len(newest_first) > 1
        chosen = newest_first[1 if asks_for_past else 0]
        answer = chosen.text
        if not asks_for_past and self.may_be_stale(chosen, known):
            answer += f" I noted that on {chosen.date}; later notes speak of a change, so it may be out of date."
        return {
            "answer": answer,
            "context": "\n".join(note.line for note in reversed(newest_first)),
            "items": [
                {"text": note.line, "source_ids": [note.source], "score": scores[note.order]} for note in newest_first
            ],
        }

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term, smoothed."""
        return math.log(1 + len(self.notes) / (1 + self.spread[term]))

    def fit(self, wanted: frozenset[str], note: Note) -> float:
        """Return how well a note fits: rarity of the shared terms, damped for long notes."""
        return sum(self.rarity(term) for term in sorted(wanted & note.terms)) / math.sqrt(8 + len(note.terms))

    def may_be_stale(self, chosen: Note, known: list[Note]) -> bool:
        """Whether a note taken later speaks of a change in something that the chosen one rests on."""
        return any(
            note.order > chosen.order and note.terms & chosen.terms and CHANGE.search(note.text) is not None
            for note in known
        )
