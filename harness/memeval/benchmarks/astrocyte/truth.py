"""What a search should bring up, found among the texts that are stored, and checked against them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.benchmarks.astrocyte.suite import MAIN
from memeval.benchmarks.yaml_nodes import Entry
from memeval.grading.recall import holds, passes
from memeval.records.scenario import Recall, Retain
from memeval.systems.output import visible


@dataclass(frozen=True)
class RelevantTexts:
    """What is relevant to a search."""

    relevant: tuple[str, ...] = ()
    """Ordinals of texts."""
    one_keyword: bool = False
    """Whether they hold one of the keywords each, rather than all of them."""


class RelevanceRules:
    """Finds what is relevant to searches.

    Args:
        texts: what is stored.
    """

    def __init__(self, texts: Sequence[Retain]) -> None:
        self._texts = texts
        self._by_id = {text.source_id: text for text in texts}
        self._banks = {text.bank for text in texts} or {None}

    def check_bank(self, entry: Entry, bank: str | None) -> None:
        """Note a bank that nothing is retained in."""
        if bank not in self._banks:
            names = sorted(name or MAIN for name in self._banks)
            near = difflib.get_close_matches(bank or MAIN, names, n=1)
            hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(names)}."
            entry.problem("bank", f"is '{bank or MAIN}', in which nothing is retained. {hint}")

    def of(self, entry: Entry, asked: Recall, ids: Sequence[str], keywords: Sequence[str]) -> RelevantTexts:
        """Return what is relevant to a search: the texts it names, else those in its reach that hold its keywords.

        Those hold all keywords, or where there is none that does, one. In reach is what is in the bank and passes the
        filter. What cannot be is noted.

        Args:
            entry: the search as it stands in the file.
            asked: the search.
            ids: the texts it names, by the file's ids.
            keywords: what a relevant text holds.
        """
        reach = [text for text in self._texts if text.bank == asked.bank and passes(asked, text)]
        for keyword in keywords:
            if not any(holds(text.content, (keyword,), one=False) for text in reach):
                told = f"holds '{visible(keyword[:64])}', which no text in reach of this search does."
                entry.problem("expected_contains", told)
        named = [text for name in ids if (text := self._named(entry, name, asked)) is not None]
        every = [text for text in reach if holds(text.content, keywords, one=False)]
        some = [text for text in reach if holds(text.content, keywords, one=True)]
        relevant = named or every or some
        return RelevantTexts(tuple(text.text_id for text in relevant), one_keyword=bool(some and not every))

    def _named(self, entry: Entry, name: str, asked: Recall) -> Retain | None:
        """Return a text that a search names, if it can bring it up."""
        text = self._by_id.get(name)
        if text is None:
            near = difflib.get_close_matches(name, self._by_id, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            entry.problem("expected_ids", f"names '{visible(name)}', which no text is called.{hint}")
        elif text.bank != asked.bank:
            entry.problem("expected_ids", f"names '{name}', which is in the bank '{text.bank or MAIN}'.")
        elif not passes(asked, text):
            entry.problem("expected_ids", f"names '{name}', which does not pass the search's own filter.")
        return text
