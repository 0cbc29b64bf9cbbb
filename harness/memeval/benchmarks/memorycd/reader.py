"""The habits reader: solves MemoryCD's tasks from the reviews in the context, by rules, without a model."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum, log, sqrt

from memeval.reading import ReaderAnswer

LIKED = 4.0

Fields = Mapping[str, str]

_LABELS = (
    "ID",
    "Number",
    "Domain",
    "Title",
    "Rating",
    "Review",
    "Product",
    "Product Avg Rating",
    "Category",
    "Description",
)
"""Labels in their order; a label that does not come after the previous one starts a new review."""

_TEXT_LABELS = ("Domain", "Title", "Review", "Product", "Category", "Description")

_LINE = re.compile(
    r" *(?:\[[^\]]*\] (?:[^:]{1,60}: )?)?(?P<label>" + "|".join(_LABELS) + r"): ?(?P<value>.*)", re.DOTALL
)
_TASK = re.compile(r"\s*\[(rating|title|review|ranking)\]")
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_WORD = re.compile(r"[^\W_]{2,}")


class HabitsReader:
    """Solves a task from the reviews in the context, in MemoryCD's format.

    A question begins with its task in brackets; the product follows its first blank line. The similarity of two texts
    is ``Σ idf(w) / √(a·b)`` over their common words w, where a and b are the numbers of their words and
    ``idf(w) = log((1 + reviews) / reviews with w)``.

    - ``[rating]``: the mean of the ratings in the context, each with the weight 1 + its similarity to the product,
      rounded to an integer, halves up.
    - ``[title]``, ``[review]``: the title, or the shown part of the text, of the most similar review that has one.
      Of equals, the one with the nearest rating, then the latest.
    - ``[ranking]``: the candidates by their similarity to the most similar review of 4 stars or more. Of equals, the
      one with the higher average rating, then the first.

    A context without reviews gives a blank answer. The reader needs no model, is deterministic, and is a lower bound
    for other readers.
    """

    name = "habits@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        asked = _TASK.match(question)
        known = _Reviews(list(dict.fromkeys(_Review(one) for text in contexts for one in reviews_in(text))))
        if asked is None or not known.reviews:
            return ReaderAnswer("")
        shown = list(reviews_in(question.partition("\n\n")[2]))
        task = asked.group(1)
        if task == "ranking":
            return ReaderAnswer(", ".join(known.ranked([one for one in shown if one.get("ID")])))
        product: dict[str, str] = {}
        for one in shown:
            product = {**one, **product}
        return ReaderAnswer(known.rating(product) if task == "rating" else known.text_for(task.capitalize(), product))


class _Review:
    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.rating = _number(fields.get("Rating", ""))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Review) and self.fields == other.fields

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))

    @cached_property
    def words(self) -> frozenset[str]:
        return _words(self.fields)


class _Reviews:
    def __init__(self, reviews: Sequence[_Review]) -> None:
        self.reviews = [one for one in reviews if one.rating is not None]

    @cached_property
    def _places_of_words(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(self.reviews):
            for word in one.words:
                found[word].append(place)
        return found

    def _similar(self, fields: Fields) -> list[float]:
        scores, own = [0.0] * len(self.reviews), _words(fields)
        # In a fixed order, since float sums depend on it.
        for word in sorted(own & self._places_of_words.keys()):
            places = self._places_of_words[word]
            weight = log((1 + len(self.reviews)) / len(places))
            for place in places:
                scores[place] += weight
        return [
            score / sqrt(len(own) * len(one.words)) if score else 0.0
            for score, one in zip(scores, self.reviews, strict=True)
        ]

    def rating(self, product: Fields) -> str:
        weights = [1 + score for score in self._similar(product)]
        mean = fsum(weight * (one.rating or 0.0) for weight, one in zip(weights, self.reviews, strict=True))
        return str(int(mean / fsum(weights) + 0.5))

    def text_for(self, label: str, product: Fields) -> str:
        wanted = _number(product.get("Rating", ""))
        best, found = (-1.0, 0.0), ""
        for one, score in zip(self.reviews, self._similar(product), strict=True):
            off = 0.0 if wanted is None or one.rating is None else abs(wanted - one.rating)
            if one.fields.get(label) and (score, -off) >= best:
                best, found = (score, -off), one.fields[label]
        return found.removesuffix("...") if label == "Review" else found

    def ranked(self, candidates: Sequence[Fields]) -> list[str]:
        liked = [place for place, one in enumerate(self.reviews) if (one.rating or 0.0) >= LIKED]

        def likely(candidate: Fields) -> tuple[float, float]:
            scores, average = self._similar(candidate), _number(candidate.get("Product Avg Rating", ""))
            return max((scores[place] for place in liked), default=0.0), average or 0.0

        return list(dict.fromkeys(one["ID"] for one in sorted(candidates, key=likely, reverse=True)))


def reviews_in(text: str) -> Iterator[Fields]:
    """Yield the reviews or candidates in a text, in order.

    A line ``Label: …`` whose label does not come after the previous one starts a new review. Text before a label, such
    as a date and a speaker, is ignored. A line without a label continues the previous one.
    """
    lines: dict[str, list[str]] = {}
    reached, label = -1, ""
    for line in text.split("\n"):
        found = _LINE.match(line)
        if found is None:
            if label and line.strip():
                lines[label].append(line.strip())
            continue
        label = found["label"]
        place = _LABELS.index(label)
        if lines and place <= reached:
            yield _joined(lines)
            lines = {}
        lines[label] = [found["value"].strip()]
        reached = place
    if lines:
        yield _joined(lines)


def _joined(lines: Mapping[str, Sequence[str]]) -> Fields:
    return {label: "\n".join(own) for label, own in lines.items()}


def _words(fields: Fields) -> frozenset[str]:
    return frozenset(_WORD.findall(" ".join(fields.get(label, "") for label in _TEXT_LABELS).casefold()))


def _number(text: str) -> float | None:
    found = _NUMBER.match(text)
    return None if found is None else float(found.group())
