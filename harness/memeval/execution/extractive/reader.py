"""The offline reader: it prefers what is true at the asked time, and doubts facts whose basis changed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import nlargest
from math import fsum, log

from memeval.execution.extractive.cues import MOVES, Force, day_in_words, month_asked, news_of, said_time
from memeval.execution.extractive.statements import Statement, statements, stems
from memeval.reading import ReaderAnswer

NEAR = 0.35
"""Weight of a word around a statement, relative to a word in it."""

FACT = 1.5
"""Weight of how fact-like a statement is, on the scale of word weights."""

ELSEWHERE = 0.75
"""Factor for the words of others than the person that the question names."""

UNTRUE = 0.5
"""Factor for what is imagined, over, taken back, or true of others."""

ON_TOPIC = 0.6
"""Least score of a statement on the subject of the question, relative to the best score."""

STATED = 0.5
"""How fact-like a statement must be to count as news on the speaker's life."""

SAME = 0.3
"""Least share of a subject's words, by weight, in a later statement on the same subject."""

LINKS = 3

BASES = 5
"""Most statements on which a statement may rest: those that share the rarest words with it."""

RARE = 50
"""Most statements with a word that names a basis."""

CHANGES = 50
"""Most later changes that are compared with a basis: the latest."""

_WHEN = re.compile(
    r"^\W*(?:\w+\W+){0,3}when\b(?! (?:do|does)\b)|\b(?:what|which) (?:date|day|month|year|time of)\b|\bhow long ago\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should|am)\b|"
    r"\b(?:is|does|would) (?:it|that|this)\b|\bcan (?:i|one) (?:assume|count|take)\b",
    re.IGNORECASE,
)
_ASKS_THE_ASSISTANT = re.compile(
    r"\byou(?: have| had|'ve|'d)? (?:\w+ )?(?:advis|describ|explain|gave|give|list|mention|propos|provid|"
    r"recommend|said|say|suggest|told|tell)",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_NEIGHBOUR = re.compile(
    r"\b(?P<side>before|prior to|until|after|following|once|as soon as|since|upon)\b (?P<rest>\w.*)$", re.IGNORECASE
)
_EARLIER = ("before", "prior to", "until")


class ExtractiveReader:
    """Answers with the sentence of the context that fits a question best, and reads how people state facts.

    - Daydreams, memories of long before, plans that were taken back, and facts of other people are not answers.
    - Of several statements on a subject, the latest up to the asked time counts; *before* and *after* name a neighbour.
    - In talk with an assistant, the most fact-like statement answers if no word of the question is there.
    - *Yesterday*, *last May* and *two weeks ago* become dates in answers to *when*.
    - If something changed on which a fact rests, and the fact was not stated again, the answer says that it is open.

    It needs no model and is deterministic.
    """

    name = "extractive@2"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        found = statements(contexts, timestamp)
        return ReaderAnswer(_AskedContext(question, found).answer() if found else "")


class _AskedContext:
    """One question over the statements of a context, at least one."""

    def __init__(self, question: str, found: Sequence[Statement]) -> None:
        self.question, self.all = question, found
        speakers = {each.line.speaker for each in found}
        asked = stems(question)
        self.people = frozenset(word for speaker in speakers for word in stems(speaker))
        self.named = {speaker for speaker in speakers if stems(speaker) & asked}
        self.words = asked - self.people
        self.with_assistant = any(each.line.is_reply for each in found) and not _ASKS_THE_ASSISTANT.search(question)
        if self.with_assistant and not self.named:
            self.named = {each.line.speaker for each in found if not each.line.is_reply}
        self._count = Counter(word for each in found for word in each.words & asked)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = defaultdict(list)
        for each in self.all:
            for word in each.words:
                places[word].append(each.place)
        return places

    def answer(self) -> str:
        if _WHEN.search(self.question):
            return self._when()
        if month := month_asked(self.question):
            return self._in_month(*month)
        if (side := _NEIGHBOUR.search(self.question)) and (found := self._beside(side)):
            return news_of(found.text)
        return self._now()

    # How well a statement fits ----------------------------------------------------------------------------------------

    def weight(self, words: Iterable[str]) -> float:
        """Return the sum of the inverse document frequencies of words; it does not depend on their order."""
        counts = (self._count.get(word) or len(self.places.get(word, ())) for word in words)
        return fsum(log(1 + len(self.all) / count) for count in counts if count)

    def overlap(self, words: frozenset[str], each: Statement) -> float:
        inside, near = words & each.words, words & each.around
        return (self.weight(inside) if inside else 0.0) + (NEAR * self.weight(near) if near else 0.0)

    def score(self, words: frozenset[str], each: Statement) -> float:
        """Return how well a statement fits a question with some words, to nine digits."""
        score = self.overlap(words, each)
        if self.with_assistant:
            score += FACT * each.fact_like
            score = score if each.is_true else UNTRUE * score - FACT
        return round(score * ELSEWHERE if self.named and each.line.speaker not in self.named else score, 9)

    def best(self, words: frozenset[str], among: Iterable[Statement]) -> Statement | None:
        """Return the statement that fits best; of equals, the latest."""
        return max(among, key=lambda each: (self.score(words, each), each.place), default=None)

    def on_topic(self, words: frozenset[str], among: Sequence[Statement]) -> list[Statement]:
        """Return the statements on a subject, in order, without plans that were taken back later."""
        scores = [self.score(words, each) for each in among]
        least = ON_TOPIC * max(scores, default=0.0)
        kept: list[Statement] = []
        for score, each in zip(scores, among, strict=True):
            if each.sentence.force is Force.TAKEN_BACK and kept and kept[-1].session != each.session:
                plan = kept[-1]
                if self.overlap(words, each) >= ON_TOPIC * self.overlap(words, plan):
                    kept = [one for one in kept if one.session != plan.session] or kept
            if score > 0 and score >= least:
                kept.append(each)
        return kept

    # Kinds of questions -----------------------------------------------------------------------------------------------

    def _when(self) -> str:
        """Return when something happened or began: the time that the first best statement names, or its date."""
        scores = [self.score(self.words, each) for each in self.all]
        first = self.all[scores.index(max(scores))]
        if not self.overlap(self.words, first):
            return ""
        if first.day is None:
            return first.text
        return f"{said_time(first.text, first.day) or day_in_words(first.day)}: {first.text}"

    def _in_month(self, year: int, month: int) -> str:
        until = [each for each in self.all if each.line.stamp <= f"{year:04}-{month:02}-99"]
        found = self._newest(self.words, until or self.all)
        return news_of(found.text) if found else ""

    def _beside(self, side: re.Match[str]) -> Statement | None:
        """Return what was true just before or after what the question names, if the context names it."""
        clause = stems(side["rest"]) - self.people - MOVES
        anchor = max(self.all, key=lambda each: (round(self.overlap(clause, each) + each.fact_like, 9), -each.place))
        if not self.overlap(clause, anchor):
            return None
        subject, earlier = self.words - clause, side["side"].lower() in _EARLIER
        there = [each for each in self.all if each.session != anchor.session and earlier == (each.place < anchor.place)]
        topic = self.on_topic(subject, there)
        nearest = topic[-1 if earlier else 0].session if topic else None
        return self.best(subject, (each for each in topic if each.session == nearest))

    def _now(self) -> str:
        fact = self._newest(self.words, self.all)
        if fact is None:
            return ""
        if (
            fact.is_own
            and self.with_assistant
            and not _PAST.search(self.question)
            and (changed := self._change_of_basis(fact))
        ):
            return f"It is not certain any more. Then: {fact.text} But later: {changed.text}"
        text = news_of(fact.text) if self.with_assistant else fact.with_next
        return f"Yes. {text}" if _YES_NO.search(self.question) else text

    def _newest(self, words: frozenset[str], among: Sequence[Statement]) -> Statement | None:
        """Return the statement on a subject that counts: of talk with an assistant, the best of the last session."""
        topic = self.on_topic(words, among)
        if not self.with_assistant:
            return self.best(words, topic)
        topic = topic or [each for each in among if not each.line.is_reply]
        newest = self.best(words, (each for each in topic if each.session == topic[-1].session))
        fact = self.best(words, (each for each in topic if each.sentence.rests))
        if fact and newest and self.overlap(words, fact) > 1.5 * self.overlap(words, newest):
            return fact
        return newest

    # Facts that rest on others ----------------------------------------------------------------------------------------

    def _change_of_basis(self, fact: Statement) -> Statement | None:
        """Return a later change of something on which a fact rests; ``None`` without one."""
        later = [each for each in self.all[fact.place + 1 :] if each.session > fact.session and each.is_own]
        changes = [each for each in later if each.sentence.force is Force.CHANGED][-CHANGES:]
        stated = [
            each
            for each in self.on_topic(self.words, self.all[: fact.place + 1])
            if each.sentence.gives_reason and (each is fact or each.words & fact.words - self.words)
        ]
        for each in stated[-BASES:]:
            if found := self._root_change(each, changes, LINKS):
                return found
        return None

    def _root_change(self, fact: Statement, changes: Sequence[Statement], links: int) -> Statement | None:
        """Return the first change of a fact's reason, or of the reason of the reason."""
        reason = frozenset(word for word in fact.words - self.words if len(self.places[word]) <= RARE)
        places = {place for word in reason for place in self.places[word] if place < fact.place}
        own = (each for each in (self.all[place] for place in places) if each.is_own and each.fact_like > STATED)
        for basis in nlargest(BASES, own, key=lambda each: (round(self.weight(each.words & reason), 9), each.place)):
            old, subject = basis.words & reason, basis.words - fact.words
            for each in changes:
                if old & each.words or self._share(subject, each) >= SAME:
                    return each
            if links > 1 and basis.sentence.gives_reason and (found := self._root_change(basis, changes, links - 1)):
                return found
        return None

    def _share(self, subject: frozenset[str], each: Statement) -> float:
        """Return how much of the weight of a subject is in or around a statement, from 0 to 1."""
        whole = self.weight(subject)
        return self.weight(subject & (each.words | each.around)) / whole if whole else 0.0
