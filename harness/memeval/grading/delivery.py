"""Delta efficiency by the contexts themselves: only ingested text that a reader answered from earns it.

A system that chooses its own token counts, or the text behind them, can make any series shrink. So the first contexts
count only as far as they consist of ingested text that was not sent before, and a later context that leaves out a fact
asked for counts as the whole history.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from memeval.grading.base import CORRECTED, DeliveredContexts, RuleGrader, first_failure, row
from memeval.grading.delta import EARLY_TURNS, Efficiency, coverage, delta_key, efficiency, token_series, verdict_reason
from memeval.judging.base import Judge
from memeval.judging.text import stated
from memeval.keys import DeltaKey, Fact, ItemKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Ingest, Question, Retain, Scenario, dated_line
from memeval.tokens import count_tokens


class DeliveredDelta(RuleGrader):
    """Grades the questions of one scenario together, by the contexts that a reader answered from.

    The verdict is by the published rule, DeepMemEval's own. It reads token counts only, so a blank answer has no
    effect. The gated rule is an alternate. It reads the contexts and the answers: see :func:`checked_series`.
    """

    name = "delta-efficiency@3"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item without its contexts; the gated rule then fails."""
        return self.grade_delivered(item, scenario, responses, DeliveredContexts())

    def grade_delivered(
        self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], delivered: DeliveredContexts
    ) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.ContextGrader`.

        An item with a failed question has no verdict. A blank answer is wrong under the gated rule only. Raises
        ``TypeError``: the item's key is not a delta-efficiency key. Raises ``ValueError``: the numbers of questions and
        responses differ.
        """
        key = delta_key(item, responses, self.name)
        series, flags = token_series(responses)
        if series is not None and not delivered.read:
            flags = tuple(dict.fromkeys((*flags, Flag.SELF_REPORTED_TOKENS)))
        counted = Efficiency(None, "Not every question has a token count.") if series is None else efficiency(series)
        checked = _checked(scenario, item, key, delivered)
        facts = coverage([response.answer for response in responses], key.facts_by_turn)
        failure = first_failure([response for response in responses if response.outcome.is_error])
        state, reason = failure or (GradeState.GRADED, verdict_reason(counted))
        gated = first_failure(responses) is None and checked.passes and facts.holds
        is_reported = Flag.SELF_REPORTED_TOKENS in flags
        return row(
            item,
            self.name,
            state,
            verdict=None if state.is_error else counted.passes,
            value=counted.value,
            reason=reason,
            flags=flags,
            answerable=False,
            alternates={"gated": gated, CORRECTED: gated},
            metrics={
                "efficiency": None if is_reported else counted.value,
                "reported_efficiency": counted.value if is_reported else None,
                "checked_efficiency": checked.value,
                "early_coverage": facts.early,
                "late_coverage": facts.late,
            },
        )


def _checked(scenario: Scenario, item: ItemKey, key: DeltaKey, delivered: DeliveredContexts) -> Efficiency:
    """Return the efficiency of the contexts that a reader answered from; undefined without all of them.

    A system that writes its own answers only reports its context, which earns nothing.
    """
    texts = [text for text in delivered.texts if text is not None]
    if not delivered.read or len(texts) != len(item.question_ids):
        return Efficiency(None)
    return efficiency(checked_series(scenario, item.question_ids, texts, key.facts_by_turn))


def checked_series(
    scenario: Scenario, question_ids: Sequence[str], texts: Sequence[str], facts_by_turn: Sequence[tuple[Fact, ...]]
) -> tuple[float, ...]:
    """Return the tokens that count for each question, in order.

    The first five contexts are the baseline. Each counts only the ingested lines that it holds word for word and that
    no earlier context held. So together they never count more than the history so far, as dated lines. A later context
    counts in full. If no ingested line delivered so far states a fact that its question asks for, it counts at least
    as the history.

    Where the agent does not keep earlier contexts, only the lines of a question's own context hold its facts.
    """
    delivered: dict[str, None] = {}
    tokens: list[float] = []
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
        if not all(stated("\n".join(known), *(fact.phrases for fact in facts))):
            size = max(size, _tokens(history.values()))
        tokens.append(size)
    return tuple(tokens)


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


def _tokens(lines: Iterable[str]) -> float:
    """Return the tokens of lines, counted one by one, so that another line never lowers the count."""
    return float(sum(map(count_tokens, lines)))
