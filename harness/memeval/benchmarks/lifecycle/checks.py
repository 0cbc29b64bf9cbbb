"""Rules that all generated data must satisfy. A broken rule is an error, not a warning."""

from __future__ import annotations

from memeval.benchmarks.kit.checks import require, require_order
from memeval.benchmarks.lifecycle.keys import ProbeKey, ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Written
from memeval.judging.text import states
from memeval.keys import ItemKey

LARGEST_CLUSTER = 8
"""The most items of a scenario."""


def check(written: Written) -> None:
    """Check one scenario.

    Raises:
        BrokenRule: names the item and the rule.
    """
    scenario, where = written.scenario, written.scenario.scenario_id
    require_order(scenario)
    ids = [session.session_id for session in scenario.each_session()]
    require(len(ids) == len(set(ids)), where, "an id names two texts.")
    require(len(written.items) <= LARGEST_CLUSTER, where, "too many items.")
    texts = {turn.turn_id: turn.content for session in scenario.each_session() for turn in session.turns}
    questions = {question.question_id: question.question for question in scenario.questions()}
    asked = [question for item in written.items for question in item.question_ids]
    require(sorted(asked) == sorted(questions), where, "a question belongs to no item, or to two.")
    for item in written.items:
        _check_item(item, texts, questions)


def _check_item(item: ItemKey, texts: dict[str, str], questions: dict[str, str]) -> None:
    key = item.key
    if not isinstance(key, ProbeKey):
        raise TypeError(item.item_id)
    require(len(key.stages) == len(item.question_ids), item.item_id, "stages and questions differ in number.")
    require(any(stage.expected for stage in key.stages), item.item_id, "an empty memory would pass.")
    for stage, question_id in zip(key.stages, item.question_ids, strict=True):
        _check_stage(item.item_id, stage, texts, questions[question_id])


def _check_stage(where: str, stage: ProbeStage, texts: dict[str, str], question: str) -> None:
    right = {phrase for part in stage.expected for phrase in part.phrases}
    wrong = {phrase for part in stage.wrong for phrase in part.phrases}
    if stage.rule is ProbeRule.SOURCE:
        wrong = set()  # about somebody else, in the same words
    require(right.isdisjoint(wrong), where, "an expected value is also wrong.")
    for part in (*stage.expected, *stage.wrong):
        _check_statement(where, part, texts)
        require(not states(question, part.phrases), where, f"the question says {part.phrases[0]!r}.")
    for part in stage.expected:
        makers = {turn for turn, text in texts.items() if states(text, part.phrases)}
        require(bool(part.turns) and set(part.turns) <= makers, where, f"{part.phrases[0]!r} has no source.")
        for turn in part.turns:
            require(not any(states(texts[turn], (each,)) for each in wrong), where, f"{turn} says a wrong value.")


def _check_statement(where: str, part: ProbeStatement, texts: dict[str, str]) -> None:
    for turn in part.turns:
        require(states(texts[turn], part.phrases), where, f"{turn} does not state {part.phrases[0]!r}.")
