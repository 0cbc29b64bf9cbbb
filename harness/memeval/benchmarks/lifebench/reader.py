"""The options reader: chooses the option that the context supports best, by rules, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, log

from memeval.benchmarks.lifebench.questions import options_in
from memeval.reading import ReaderAnswer

_WORD = re.compile(r"[^\W_]{2,}")


class OptionsReader:
    """Chooses the option with the best passage. A passage is a line of the context.

    ``score(option) = max over passages p of share(question, p) + share(option, p)``, where ``share(text, p)`` is
    ``Σ idf(w)`` over the words of the text in p, divided by the sum over all words of the text, and
    ``idf(w) = log(1 + passages / passages with w)``. Words that no passage has count as if one had them. Of equals, the
    first option wins. A question without options and an empty context give a blank answer.
    """

    name = "options@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Choose an option; see :class:`memeval.reading.Reader`."""
        text, options = options_in(question)
        passages = list(dict.fromkeys(each for context in contexts for each in context.split("\n") if each.strip()))
        if not options or not passages:
            return ReaderAnswer("")
        words = [_words(each) for each in passages]
        counts = Counter(word for each in words for word in each)
        asked = _words(text)
        wanted = {letter: _words(option) for letter, option in options.items()}
        weight = {word: log(1 + len(passages) / max(1, counts[word])) for word in asked.union(*wanted.values())}

        def best(option: frozenset[str]) -> float:
            return max(_share(asked, each, weight) + _share(option, each, weight) for each in words)

        return ReaderAnswer(max(wanted, key=lambda letter: best(wanted[letter])))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(text: frozenset[str], passage: frozenset[str], weight: Mapping[str, float]) -> float:
    """Return the share of a text's weight that a passage has; 0 for a text without words. Sums ignore the order."""
    whole = fsum(weight[word] for word in text)
    return fsum(weight[word] for word in text & passage) / whole if whole else 0.0
