"""Generates the scenarios of a protocol from a seed, and checks their rules. A broken rule is an error."""

from collections.abc import Callable, Iterator
from functools import partial

from memeval.benchmarks.kit.checks import require, require_order
from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.lifecycle.deletions import apart, at_once, by_id, by_user, exported, said_twice
from memeval.benchmarks.lifecycle.keys import ProbeKey, ProbeRule, ProbeStage
from memeval.benchmarks.lifecycle.script import Mode, Script, Written
from memeval.benchmarks.lifecycle.statements import SIZES, believe, correct, growth, provenance
from memeval.judging.text import states
from memeval.keys import ItemKey

LARGEST_CLUSTER = 8


def check(written: Written) -> None:
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
        for turn in part.turns:
            require(states(texts[turn], part.phrases), where, f"{turn} does not state {part.phrases[0]!r}.")
        require(not states(question, part.phrases), where, f"the question says {part.phrases[0]!r}.")
    for part in stage.expected:
        makers = {turn for turn, text in texts.items() if states(text, part.phrases)}
        require(bool(part.turns) and set(part.turns) <= makers, where, f"{part.phrases[0]!r} has no source.")
        for turn in part.turns:
            require(not any(states(texts[turn], (each,)) for each in wrong), where, f"{turn} says a wrong value.")


FORGET, APART, CORRECT, BELIEVE, PROVENANCE, GROWTH = (
    *("forget", "keep-apart", "correct", "do-not-believe", "provenance", "growth"),
)

EXPORT, TOPIC, AT_ONCE = "export-after-deletion", "forget-topic", "written-at-once"

Write = Callable[[Script], None]

_PARTS: dict[str, tuple[Write, ...]] = {
    FORGET: (by_id, said_twice, by_user),
    APART: (apart,),
    CORRECT: (correct,),
    BELIEVE: (believe,),
    PROVENANCE: (provenance,),
    EXPORT: (partial(exported, whole_user=False), partial(exported, whole_user=True)),
    TOPIC: (partial(by_id, topic_query=True),),
    AT_ONCE: (at_once,),
}
"""The ways to write a scenario of each part, in turn; growth has its own."""

SCENARIOS = {
    **{FORGET: 24, APART: 14, CORRECT: 14, BELIEVE: 14, PROVENANCE: 14, GROWTH: 14},
    **{EXPORT: 24, TOPIC: 12, AT_ONCE: 16},
}
"""Scenarios of each part at the size 14; of growth, at each of its sizes."""

STANDARD = 14

SESSION_PARTS = (APART, CORRECT, BELIEVE, PROVENANCE, GROWTH)
"""The parts that need no more than sessions and a search."""

PROTOCOLS: dict[str, tuple[Mode, tuple[str, ...]]] = {
    "search": (Mode.SESSIONS, SESSION_PARTS),
    "answers": (Mode.SESSIONS, SESSION_PARTS),
    "banks": (Mode.BANKS, (FORGET, *SESSION_PARTS)),
    "export": (Mode.BANKS, (EXPORT,)),
    "topic": (Mode.BANKS, (TOPIC,)),
    "at-once": (Mode.BANKS, (AT_ONCE,)),
}
"""For each protocol, how scenarios reach a system, and its parts."""


def generate(seed: int, size: int, protocol: str) -> tuple[Written, ...]:
    """Return the scenarios of a protocol, part by part.

    Raises ``BrokenRule``: a scenario breaks a rule. ``size``: number of scenarios of most parts; the others in
    proportion. ``protocol``: one of :data:`PROTOCOLS`.
    """
    mode, parts = PROTOCOLS[protocol]
    made = tuple(written for part in parts for written in _part(seed, size, mode, part))
    for written in made:
        check(written)
    return made


def _part(seed: int, size: int, mode: Mode, part: str) -> Iterator[Written]:
    count = max(1, round(SCENARIOS[part] * size / STANDARD))
    if part in (FORGET, EXPORT):
        count = max(count, len(_PARTS[part]))
    for number in range(count):
        name = f"{part}-{number + 1:02}"
        if part == GROWTH:
            for times in SIZES:
                script = _script(seed, part, f"{name}-{times}x", mode, name)
                growth(script, times, name)
                yield script.written()
            continue
        ways = _PARTS[part]
        script = _script(seed, part, name, mode, name)
        ways[number % len(ways)](script)
        yield script.written()


def _script(seed: int, part: str, name: str, mode: Mode, purpose: str) -> Script:
    return Script(part, name, mode, stream("lifecycle@1", seed, purpose))
