"""The options reader: chooses the option that the context supports best, by rules, without a model."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import fsum, log
from sys import intern

from memeval.benchmarks.lifebench.questions import options_in
from memeval.reading import ReaderAnswer

CACHED_LINES = 20_000
"""Number of passages whose words stay in memory."""

CACHED_CHARACTERS = 1_000
"""Words of longer passages do not stay in memory."""

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
        text, options = options_in(question)
        passages = list(dict.fromkeys(each for context in contexts for each in context.split("\n") if each.strip()))
        if not options or not passages:
            return ReaderAnswer("")
        asked = _words(text)
        wanted = {letter: _words(option) for letter, option in options.items()}
        weighed = asked.union(*wanted.values())
        shared = Counter(_passage_words(each) & weighed for each in passages)  # many passages share the same words
        counts: Counter[str] = Counter()
        for words, times in shared.items():
            counts.update(dict.fromkeys(words, times))
        weight = {word: log(1 + len(passages) / max(1, counts[word])) for word in weighed}
        of_question = _shares(asked, shared, weight)

        def best(letter: str) -> float:
            of_option = _shares(wanted[letter], shared, weight)
            return max(one + other for one, other in zip(of_question, of_option, strict=True))

        return ReaderAnswer(max(wanted, key=best))


def _words(text: str) -> frozenset[str]:
    return frozenset(map(intern, _WORD.findall(text.casefold())))


_kept_words = lru_cache(maxsize=CACHED_LINES)(_words)


def _passage_words(passage: str) -> frozenset[str]:
    """Return the words of a passage, which the contexts of many questions have. Long ones are not kept in memory."""
    return _kept_words(passage) if len(passage) <= CACHED_CHARACTERS else _words(passage)


def _shares(text: frozenset[str], passages: Iterable[frozenset[str]], weight: Mapping[str, float]) -> list[float]:
    """Return the share of a text's weight that each passage has; 0 for a text without words.

    Sums ignore the order of the words.
    """
    whole = fsum(map(weight.__getitem__, text))
    if not whole:
        return [0.0 for _ in passages]
    return [fsum(map(weight.__getitem__, text & passage)) / whole for passage in passages]
