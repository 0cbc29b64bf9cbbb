"""Finds and checks the relevant texts of searches."""

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
    """Texts that are relevant to a search."""

    relevant: tuple[str, ...] = ()
    """Ordinals of the texts."""
    one_keyword: bool = False
    """Whether each contains one of the keywords instead of all."""


class RelevanceRules:
    """Finds the relevant texts of searches.

    Args:
        texts: the retained texts.
    """

    def __init__(self, texts: Sequence[Retain]) -> None:
        self._texts = texts
        self._by_id = {text.source_id: text for text in texts}
        self._banks = {text.bank for text in texts} or {None}

    def check_bank(self, entry: Entry, bank: str | None) -> None:
        """Add a problem if a bank has no texts."""
        if bank not in self._banks:
            names = sorted(name or MAIN for name in self._banks)
            near = difflib.get_close_matches(bank or MAIN, names, n=1)
            hint = f"Did you mean '{near[0]}'?" if near else f"Choose one of: {', '.join(names)}."
            entry.problem("bank", f"names '{bank or MAIN}', a bank without texts. {hint}")

    def of(self, entry: Entry, asked: Recall, ids: Sequence[str], keywords: Sequence[str]) -> RelevantTexts:
        """Return the relevant texts of a search: those it names, else those that contain its keywords.

        Only texts in its bank that pass its filter count. They must contain all keywords; if none does, one keyword is
        enough. Adds a problem for each impossible id or keyword.

        Args:
            entry: the search in the file.
            asked: the search.
            ids: ids in the file of the texts it names.
            keywords: keywords of relevant texts.
        """
        candidates = [text for text in self._texts if text.bank == asked.bank and passes(asked, text)]
        for keyword in keywords:
            if not any(holds(text.content, (keyword,), one=False) for text in candidates):
                sentence = f"has '{visible(keyword[:64])}', which no text for this search contains."
                entry.problem("expected_contains", sentence)
        named = [text for name in ids if (text := self._named(entry, name, asked)) is not None]
        every = [text for text in candidates if holds(text.content, keywords, one=False)]
        some = [text for text in candidates if holds(text.content, keywords, one=True)]
        relevant = named or every or some
        return RelevantTexts(tuple(text.text_id for text in relevant), one_keyword=bool(some and not every))

    def _named(self, entry: Entry, name: str, asked: Recall) -> Retain | None:
        """Return a text that a search names; add a problem if the search cannot find it."""
        text = self._by_id.get(name)
        if text is None:
            near = difflib.get_close_matches(name, self._by_id, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            entry.problem("expected_ids", f"names '{visible(name)}', which is not the id of a text.{hint}")
        elif text.bank != asked.bank:
            entry.problem("expected_ids", f"names '{name}', which is in the bank '{text.bank or MAIN}'.")
        elif not passes(asked, text):
            entry.problem("expected_ids", f"names '{name}', which does not pass the filter of this search.")
        return text
