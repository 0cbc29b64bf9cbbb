"""Full-text search over dated turns and retained texts, with the bm25s library."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import bm25s
import numpy as np
import Stemmer


class Bank:
    """Texts that are searched together: the statistics of BM25 are those of all of them."""

    def __init__(self, words: Callable[[list[str]], list[list[str]]]) -> None:
        self.words = words
        self.kept: list[dict[str, Any]] = []
        self.index: bm25s.BM25 | None = None

    def settle(self) -> None:
        """Index what was added since this was last done."""
        if self.index is None and self.kept:
            self.index = bm25s.BM25()
            self.index.index(self.words([one["text"] for one in self.kept]), show_progress=False)

    def best(self, query: str, k: int, fits: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return the texts that share most with a query, of those that fit."""
        self.settle()
        (asked,) = self.words([query])
        if self.index is None or not asked:
            return []
        scores = self.index.get_scores(asked, weight_mask=np.array([fits(one) for one in self.kept]))
        best = [place for place in np.argsort(-scores, kind="stable")[:k] if scores[place] > 0]
        return [{**item(self.kept[place]), "score": float(scores[place])} for place in best]


class BM25S:
    """Brings up the texts whose words fit best, of those said by the asked time."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english")
        self.reset()

    def reset(self) -> None:
        self.banks: dict[str, Bank] = {}

    def bank(self, name: str) -> Bank:
        """Return a bank, a new one where there is none of that name."""
        return self.banks.setdefault(name, Bank(self.words))

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        bank = self.bank("")
        for turn in session["turns"]:
            text = f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            bank.kept.append({"text": text, "source": turn["turn_id"], "date": session["date"]})
        bank.index = None

    def retain(
        self,
        content: str,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        source_id: str | None = None,
        fact_type: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Keep a text as it is. What kind it is, and what else goes with it, is kept and not searched."""
        kept = self.bank(bank)
        about = {"date": timestamp or "", "tags": tags or [], "fact_type": fact_type, "metadata": metadata or {}}
        kept.kept.append({"text": content, "source": source_id, **about})
        kept.index = None

    def settle(self, timeout: float) -> bool:
        """Index what was taken in."""
        for bank in self.banks.values():
            bank.settle()
        return True

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.bank("").best(
            query, k, lambda one: timestamp == "now" or one["date"][: len(timestamp)] <= timestamp
        )

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        timestamp: str | None = None,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        """Search a bank, of what has one of the tags and happened in the time asked for and by the asked time."""
        first, end, now = (moment(each) for each in (since, until, timestamp))

        def fits(one: dict[str, Any]) -> bool:
            at = moment(one["date"])
            return (
                (not tags or not {*tags}.isdisjoint(one.get("tags", ())))
                and (first is None or (at is not None and at >= first))
                and (end is None or at is None or at < end)
                and (now is None or at is None or at <= now)
            )

        return self.bank(bank).best(query, k, fits)

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        """Forget a bank, or the texts that came under some ids."""
        if query is not None:
            raise NotImplementedError("Texts are forgotten by their ids or by their bank, not by a query.")
        gone = 0
        for name in [bank] if bank is not None else list(self.banks):
            kept = self.bank(name)
            left = [] if ids is None else [one for one in kept.kept if one["source"] not in ids]
            gone += len(kept.kept) - len(left)
            kept.kept, kept.index = left, None
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        """Return every text that is kept, with where it came from."""
        return [item(one) for bank in self.banks.values() for one in bank.kept]

    def words(self, texts: list[str]) -> list[list[str]]:
        """Return the stems of each text's words, without the common ones."""
        found: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=self.stemmer, return_ids=False, show_progress=False
        )
        return found


def item(one: dict[str, Any]) -> dict[str, Any]:
    """Return a kept text as memeval takes it."""
    return {"text": one["text"], "source_ids": [one["source"]] if one["source"] else []}


def moment(date: str | None) -> datetime | None:
    """Return an ISO 8601 date, or date and time, with a time zone; ``None`` where there is none."""
    if not date:
        return None
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
