"""Graders of retrieval: whether what is true at the asked time is found, early, in few tokens, and not misled."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, log2

from memeval.benchmarks.beliefs.keys import EvidenceKey, Kind, StatedValue
from memeval.grading.base import DeliveredContexts, RuleGrader, first_failure, only, row
from memeval.grading.evidence import TurnIndex, index_of
from memeval.judging.base import Judge
from memeval.judging.text import states
from memeval.keys import ItemKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario, dated_line
from memeval.tokens import count_tokens

BUDGET = 6
"""The first retrieved texts count, up to so many times as many tokens as the smallest sufficient evidence. So a list of
everything that was said of late, whatever the question, earns little."""

DEPTHS_IN_TOKENS = (500, 2000)
"""Numbers of tokens for recall."""

DEPTHS = (1, 3, 5, 10)

MULTIPLE = 4
"""How many times as many tokens as the smallest sufficient evidence a context may have to be efficient."""

_NAMES = {
    Kind.STALE: "stale_first",
    Kind.DROPPED: "dropped_first",
    Kind.HYPOTHETICAL: "hypothetical_first",
    Kind.OTHER_PERSON: "other_person_first",
}


@dataclass(frozen=True)
class Text:
    text: str
    sessions: frozenset[str] | None
    """The sessions it is from, according to the system; ``None`` if it names none that exists."""
    tokens: int
    """Its tokens and those of all texts before it."""
    company: TurnIndex | None = None
    """The turns of a memory that several people share; ``None`` for the memory of one person."""

    def states(self, value: StatedValue) -> bool:
        """Return whether the text states a value, and is not from other sessions, nor by another person."""
        of = {turn.partition(":")[0] for turn in value.turns}
        found = (self.sessions is None or bool(of & self.sessions)) and states(self.text, value.phrases)
        return found and (self.company is None or self._shows(value, self.company))

    def _shows(self, value: StatedValue, company: TurnIndex) -> bool:
        said = [company.turns[turn] for turn in value.turns]
        if any(turn.content in self.text for _, turn in said):
            return True
        name = next(turn.speaker or "" for turn in said[0][0].turns if turn.role == "user")
        return any(name in line and states(line, value.phrases) for line in self.text.splitlines())


def texts_of(items: Sequence[RetrievedItem], history: TurnIndex, *, company: bool = False) -> list[Text]:
    found: list[Text] = []
    total = 0
    for item in items:
        text = history.text_of(item)
        sources = (item.turn_id, *item.source_ids) if item.turn_id else item.source_ids
        known = frozenset(history.session_of(source) for source in sources if history.knows(source))
        total += count_tokens(text)
        found.append(Text(text, known or None, total, history if company else None))
    return found


def smallest(key: EvidenceKey, history: TurnIndex) -> int:
    """Return the tokens of the smallest sufficient evidence: dated lines of one turn for each part."""
    return sum(count_tokens(dated_line(*history.turns[turn])) for turn in key.relevant_turns)


class ExpectedTurns(RuleGrader):
    """Grades what a search returns, without reader and judge.

    Of each part of the evidence, the first text that states it counts if it ends within the budget (:data:`BUDGET`).
    Its credit is 1 / (1 + number of misleading values before it): those of earlier texts, and those that come first in
    the same text, unless a turn of the evidence states them too. The credit of an item is the mean of its parts.
    """

    name = "expected-turns@1"
    company = False

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(EvidenceKey, self.name)
        if response.outcome.is_error and (failure := first_failure(responses)):
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        history = index_of(scenario)
        texts = texts_of(response.items or (), history, company=self.company)
        budget = BUDGET * smallest(key, history)
        places = [next((i for i, text in enumerate(texts) if text.states(part)), None) for part in key.expected]
        misled = [
            [
                value
                for value in key.misleading
                if _before(texts, value, place) or _leads(texts, value, place, part, history)
            ]
            for part, place in zip(key.expected, places, strict=True)
        ]
        credit = fsum(
            1 / (1 + len(wrong)) for place, wrong in zip(places, misled, strict=True) if _within(texts, place, budget)
        )
        credit /= len(places)
        found = sum(_within(texts, place, budget) for place in places)
        reason = f"{found} of {len(places)} parts of the evidence are in the first {budget} tokens"
        if count := len({value.phrases for wrong in misled for value in wrong}):
            reason += f", after {count} misleading {'value' if count == 1 else 'values'}"
        metrics: dict[str, float | None] = {
            "context_tokens": response.context_tokens,
            **{f"recall_{n}_tokens": sum(_within(texts, p, n) for p in places) / len(places) for n in DEPTHS_IN_TOKENS},
            **{f"recall@{k}": sum(p is not None and p < k for p in places) / len(places) for k in DEPTHS},
            "ndcg@10": _ndcg([place for place in places if place is not None and place < 10], len(places)),
        }
        for why, metric in _NAMES.items():
            asked = any(value.why is why for value in key.misleading)
            metrics[metric] = float(any(v.why is why for wrong in misled for v in wrong)) if asked else None
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=credit,
            reason=f"{reason}." if response.items is not None else "The system does not say what it retrieved.",
            answerable=False,
            metrics=metrics,
        )


class SharedExpectedTurns(ExpectedTurns):
    """Grades what a search returns from a memory that several people share.

    Other people say the same values. So a text counts only if it quotes a turn of the evidence, or states the value in
    a line that names the person.
    """

    name = "shared-expected-turns@1"
    company = True


def _before(texts: Sequence[Text], value: StatedValue, place: int | None) -> bool:
    return any(text.states(value) for text in texts[:place])


def _leads(texts: Sequence[Text], value: StatedValue, place: int | None, part: StatedValue, history: TurnIndex) -> bool:
    """Return whether the text at a place states a value before a part, as a text of several joined turns may.

    A turn that gives up one value for another one states both; the order of its words counts for nothing.
    """
    if place is None or any(states(history.turns[turn][1].content, value.phrases) for turn in part.turns):
        return False
    text = texts[place].text
    return _position(text, value.phrases) < _position(text, part.phrases)


def _position(text: str, phrases: Sequence[str]) -> float:
    found = (re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) for phrase in phrases)
    return min((match.start() for match in found if match), default=inf)


def _within(texts: Sequence[Text], place: int | None, budget: int) -> bool:
    return place is not None and texts[place].tokens <= budget


def _ndcg(places: Sequence[int], parts: int) -> float:
    """Return nDCG at depth 10, where the first text that states a part is relevant; see `grading.ranking`.

    Several parts in one text count at that rank and the following ones.
    """
    ranks: list[int] = []
    for place in sorted(places):
        ranks.append(max(place + 1, ranks[-1] + 1 if ranks else 1))
    return fsum(1 / log2(rank + 1) for rank in ranks) / fsum(1 / log2(rank + 1) for rank in range(1, parts + 1))


class LeanContext(RuleGrader):
    """Grades whether a context has the facts asked for, in few tokens.

    The context is what a reader answered from, or all texts of a search. One that a system only reports earns nothing.
    """

    name = "lean-context@1"
    company = False

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        return self.grade_delivered(item, scenario, responses, DeliveredContexts())

    def grade_delivered(
        self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], delivered: DeliveredContexts
    ) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(EvidenceKey, self.name)
        if response.outcome.is_error and (failure := first_failure(responses)):
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        history = index_of(scenario)
        texts: Sequence[Text] | None = None
        if delivered.read and any(delivered.texts):
            texts = [Text(text, None, count_tokens(text)) for text in delivered.texts if text]
        elif response.items is not None:
            texts = texts_of(response.items, history, company=self.company)
        least = smallest(key, history)
        used = texts[-1].tokens if texts else 0
        missing = [part for part in key.expected if not any(text.states(part) for text in texts or ())]
        flags: tuple[Flag, ...] = ()
        if texts is None:
            reason, flags = "The context is self-reported, so it earns nothing.", (Flag.SELF_REPORTED_TOKENS,)
        elif missing:
            reason = f"The context lacks {len(missing)} of {len(key.expected)} facts."
        else:
            times = f"{used / least:.1f} times the smallest sufficient evidence"
            reason = f"The context has the facts, in {used} tokens: {times}; {MULTIPLE} times is allowed."
        passes = texts is not None and not missing and used <= MULTIPLE * least
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=float(passes),
            reason=reason,
            flags=flags,
            answerable=False,
            metrics={"context_tokens": used if texts is not None else None, "context_multiple": used / least},
        )


class SharedLeanContext(LeanContext):
    name = "shared-lean-context@1"
    company = True
