"""Rules that all generated data must satisfy. A broken rule is an error, not a warning."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.benchmarks.beliefs.items import Made
from memeval.benchmarks.beliefs.plan import UNCERTAINTY
from memeval.benchmarks.kit.checks import require, require_order, says
from memeval.keys import Stance, StanceKey
from memeval.records.scenario import Scenario


def check(scenario: Scenario, items: Sequence[Made]) -> None:
    """Check the data of one person.

    Args:
        scenario: what a system sees.
        items: the questions with their keys.

    Raises:
        BrokenRule: names the item and the rule.
    """
    require_order(scenario)
    questions = [ask.question for ask in scenario.questions()]
    require(len(set(questions)) == len(questions), scenario.scenario_id, "a question is asked twice.")
    texts = {turn.turn_id: turn.content for session in scenario.each_session() for turn in session.turns}
    for made in items:
        _check_item(made, texts)


def _check_item(made: Made, texts: dict[str, str]) -> None:
    where, key = made.need.item_id, made.evidence
    for value in (*key.expected, *key.misleading):
        for turn in value.turns:
            require(says(value.phrases, texts[turn]), where, f"{turn} does not state {value.phrases[0]!r}.")
    expected = {turn for value in key.expected for turn in value.turns}
    wrong = {value.phrases for value in key.misleading}
    require(wrong.isdisjoint(value.phrases for value in key.expected), where, "an expected value misleads.")
    require(len(expected) > 0, where, "no evidence.")
    named = made.need.category == UNCERTAINTY or made.slices.get("asked") == "began"
    if not named:
        require(not says(key.expected[0].phrases, made.question), where, "the question says the answer.")
    if isinstance(made.answer, StanceKey):
        doubt = made.slices["twin"] == "changed"
        require((made.answer.stance is Stance.DOUBT) == doubt, where, "the stance does not follow from the timeline.")
