"""Delta efficiency by the contexts themselves: only ingested text that a reader answered from earns it.

A system that chooses its own token counts, or the text behind them, can make any series shrink. So the first contexts
count only as far as they consist of ingested text that was not sent before, and a later context that leaves out a fact
asked for counts as the whole history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memeval.grading.base import CORRECTED, DeliveredContexts, RuleGrader
from memeval.grading.delta import (
    EARLY_TURNS,
    Efficiency,
    Headline,
    apply_failures,
    coverage,
    delta_key,
    efficiency,
    token_series,
    verdict_reason,
)
from memeval.judging.base import Judge
from memeval.judging.text import stated
from memeval.keys import DeltaKey, Fact, ItemKey
from memeval.records.grade import Flag, Grade
from memeval.records.response import Response
from memeval.records.scenario import Ingest, Question, Retain, Scenario, dated_line
from memeval.tokens import count_tokens

SELF_REPORTED = "The system writes its own answers, so its context is self-reported and earns nothing."
NOT_STORED = "Not every question has a stored context."


class DeliveredDelta(RuleGrader):
    """Grades the questions of one scenario together, by the contexts that a reader answered from.

    The published rule is DeepMemEval's own and reads token counts only, as version 2 of
    :class:`memeval.grading.delta.DeltaEfficiency` does. The gated rule reads the contexts: see :func:`checked_series`.

    Args:
        headline: the rule of the verdict; the other rule gives the alternate.
    """

    def __init__(self, headline: Headline) -> None:
        self.headline = headline
        self.name = f"delta-efficiency{'' if headline == 'published' else '-gated'}@3"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item without its contexts; the gated rule then fails."""
        return self.grade_delivered(item, scenario, responses, DeliveredContexts())

    def grade_delivered(
        self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], delivered: DeliveredContexts
    ) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.ContextGrader`.

        An item with a failed question has no verdict. A blank answer is wrong under the gated rule only.

        Raises:
            TypeError: the item's key is not a delta-efficiency key.
            ValueError: the numbers of questions and responses differ.
        """
        key = delta_key(item, responses, self.name)
        series, flags = token_series(responses)
        if series is not None and not delivered.read:
            flags = tuple(dict.fromkeys((*flags, Flag.SELF_REPORTED_TOKENS)))
        counted = Efficiency(None, "Not every question has a token count.") if series is None else efficiency(series)
        checked = _checked(scenario, item, key, delivered)
        facts = coverage([response.answer for response in responses], key.facts_by_turn)
        verdicts = {"published": counted.passes, "gated": checked.passes and facts.holds}
        found, read = (counted, None) if self.headline == "published" else (checked, facts)
        errors = [response for response in responses if response.outcome.is_error]
        state, reason = apply_failures(verdicts, self.headline, verdict_reason(found, read), errors, responses)
        published, gated = verdicts["published"], verdicts["gated"]
        is_reported = Flag.SELF_REPORTED_TOKENS in flags
        return Grade(
            item_id=item.item_id,
            category=item.category,
            cluster=item.cluster,
            slices=item.slices,
            grader=self.name,
            state=state,
            verdict=None if state.is_error else verdicts[self.headline],
            value=found.value,
            reason=reason,
            flags=flags,
            answerable=False,
            alternates={"published": published} if self.headline == "gated" else {"gated": gated, CORRECTED: gated},
            metrics={
                "efficiency": None if is_reported else counted.value,
                "reported_efficiency": counted.value if is_reported else None,
                "checked_efficiency": checked.value,
                "early_coverage": facts.early,
                "late_coverage": facts.late,
            },
        )


def _checked(scenario: Scenario, item: ItemKey, key: DeltaKey, delivered: DeliveredContexts) -> Efficiency:
    """Return the efficiency of the contexts that a reader answered from; undefined, with a reason, without them."""
    texts = [text for text in delivered.texts if text is not None]
    if not delivered.read:
        return Efficiency(None, SELF_REPORTED)
    if len(texts) != len(item.question_ids):
        return Efficiency(None, NOT_STORED)
    return checked_series(scenario, item.question_ids, texts, key.facts_by_turn).efficiency


@dataclass(frozen=True)
class CheckedSeries:
    """The tokens that count for each question of a scenario."""

    tokens: tuple[float, ...]
    """By question."""
    lacking: int
    """Number of later contexts without a fact that their question asks for; each counts at least as the history."""

    @property
    def efficiency(self) -> Efficiency:
        """The efficiency of the series, and what lowers it."""
        if len(self.tokens) > EARLY_TURNS and not any(self.tokens[:EARLY_TURNS]):
            return Efficiency(None, f"The first {EARLY_TURNS} contexts hold no ingested text.")
        found = efficiency(self.tokens)
        if found.value is None or not self.lacking:
            return found
        return replace(found, reason=f"Facts asked for are missing in {self.lacking} later contexts.")


def checked_series(
    scenario: Scenario, question_ids: Sequence[str], texts: Sequence[str], facts_by_turn: Sequence[tuple[Fact, ...]]
) -> CheckedSeries:
    """Return the tokens that count for each question.

    The first five contexts are the baseline. Each counts only the ingested lines that it holds word for word and that
    no earlier context held. So together they never count more than the history so far, as dated lines. A later context
    counts in full. If no ingested line delivered so far states a fact that its question asks for, it counts at least
    as the history.

    Where the agent does not keep earlier contexts, only the lines of a question's own context hold its facts.

    Args:
        question_ids: the questions, in order.
        texts: their contexts.
        facts_by_turn: the facts that each question asks for.
    """
    delivered: dict[str, None] = {}
    tokens: list[float] = []
    lacking = 0
    histories = _histories(scenario, frozenset(question_ids))
    for number, (text, facts, history) in enumerate(zip(texts, facts_by_turn, histories, strict=True)):
        held = [line for line in history if line in text]
        new = [line for line in held if line not in delivered]
        delivered |= dict.fromkeys(new)
        if number < EARLY_TURNS:
            tokens.append(_tokens(dated if (dated := history[line]) in text else line for line in new))
            continue
        known = delivered if scenario.agent_keeps_context else held
        size = _tokens(text.split("\n"))
        if not _state(known, facts):
            size = max(size, _tokens(history.values()))
            lacking += 1
        tokens.append(size)
    return CheckedSeries(tuple(tokens), lacking)


def _histories(scenario: Scenario, question_ids: frozenset[str]) -> Iterator[Mapping[str, str]]:
    """Yield the distinct lines ingested before each of the questions, with their form in a dated line of context."""
    lines: dict[str, str] = {}
    for step in scenario.steps:
        if isinstance(step, Ingest | Retain):
            for turn in step.session.turns:
                head = dated_line(step.session, turn).removesuffix(turn.content)
                for number, line in enumerate(turn.content.split("\n")):
                    if line.strip():
                        lines.setdefault(line.strip(), f"{'' if number else head}{line.strip()}")
        elif isinstance(step, Question) and step.question_id in question_ids:
            yield dict(lines)


def _state(lines: Iterable[str], facts: tuple[Fact, ...]) -> bool:
    """Return whether ingested lines state all of some facts."""
    return all(stated("\n".join(lines), *(fact.phrases for fact in facts)))


def _tokens(lines: Iterable[str]) -> float:
    """Return the tokens of lines, counted one by one, so that another line never lowers the count."""
    return float(sum(map(count_tokens, lines)))
