"""Generates the scenarios and answer keys of an edition, and checks their rules. A broken rule is an error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs.items import Asker, Made
from memeval.benchmarks.beliefs.lives import CONTEXT, STREAMS, UNCERTAINTY, Cast, Life, live, plan
from memeval.benchmarks.beliefs.talk import CHATTER_SESSIONS, Talker, write
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.kit.checks import require, require_order, says
from memeval.benchmarks.kit.streams import stream
from memeval.keys import ItemKey, Stance, StanceKey
from memeval.records.scenario import Ask, Scenario


def check(scenario: Scenario, items: Sequence[Made]) -> None:
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


@dataclass(frozen=True)
class MadeLife:
    life: Life
    scenario: Scenario
    items: tuple[Made, ...]

    def keys(self, *, searched: bool) -> Iterator[ItemKey]:
        """Yield the keys of a protocol. ``searched``: whether searches are graded, and not answers."""
        for made in self.items:
            yield ItemKey(
                item_id=made.need.item_id,
                scenario_id=self.scenario.scenario_id,
                question_ids=(made.need.item_id,),
                category=made.need.category,
                cluster=self.scenario.scenario_id,
                slices=made.slices,
                evidence=tuple(dict.fromkeys(turn.partition(":")[0] for turn in made.evidence.relevant_turns)),
                key=made.evidence if searched or made.need.category == CONTEXT else made.answer,
            )


@lru_cache(maxsize=2)
def generate(seed: int, size: int, vocabulary: Vocabulary, first: int | None = None) -> tuple[MadeLife, ...]:
    """Return the lives of an edition. Equal arguments give equal bytes.

    ``first``: number of people, from the first on, whose lives are returned; ``None`` for all. Raises ``BrokenRule``:
    the data breaks a rule; see :mod:`memeval.benchmarks.beliefs.generate`.
    """
    return tuple(make_life(seed, cast, vocabulary) for cast in plan(seed, size)[:first])


def make_life(
    seed: int,
    cast: Cast,
    vocabulary: Vocabulary,
    talkers: type[Talker] = Talker,
    chatter: tuple[int, int] = CHATTER_SESSIONS,
) -> MadeLife:
    """Return the items of a person, with their only scenario.

    ``chatter``: fewest and most sessions of small talk. Raises ``BrokenRule``: see :func:`generate`.
    """
    life = live(seed, cast, vocabulary)
    history = write(seed, life, vocabulary, talkers, chatter)
    rng = stream(STREAMS, seed, "questions", cast.person.slug)
    asker = Asker(history, vocabulary, rng)
    items = [asker.make(need) for need in cast.needs]
    rng.shuffle(items)
    asks = tuple(
        Ask(
            question_id=item.need.item_id,
            question=item.question,
            timestamp=(asker.now + timedelta(days=number)).isoformat(),
        )
        for number, item in enumerate(items)
    )
    scenario = Scenario(scenario_id=f"beliefs-2-{cast.person.slug}", steps=(*history.steps, *asks))
    check(scenario, items)
    return MadeLife(life, scenario, tuple(items))
