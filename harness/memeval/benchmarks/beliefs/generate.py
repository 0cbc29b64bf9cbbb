"""Generates the scenarios and answer keys of an edition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs import checks
from memeval.benchmarks.beliefs.history import CHATTER, write
from memeval.benchmarks.beliefs.items import Asker, Made
from memeval.benchmarks.beliefs.lives import Life, live
from memeval.benchmarks.beliefs.plan import CONTEXT, STREAMS, Cast, plan
from memeval.benchmarks.beliefs.talk import Talker
from memeval.benchmarks.beliefs.wording.vocabulary import Vocabulary
from memeval.benchmarks.kit.streams import stream
from memeval.keys import ItemKey
from memeval.records.scenario import Ask, Scenario


@dataclass(frozen=True)
class MadeLife:
    """The items of one person, with their only scenario."""

    life: Life
    scenario: Scenario
    items: tuple[Made, ...]
    """In the order of the questions."""

    def keys(self, *, searched: bool) -> Iterator[ItemKey]:
        """Yield the keys of a protocol.

        Args:
            searched: whether searches are graded, and not answers.
        """
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

    Args:
        size: number of people.
        first: number of people, from the first on, whose lives are returned; ``None`` for all.

    Raises:
        BrokenRule: the data breaks a rule; see :mod:`memeval.benchmarks.beliefs.checks`.
    """
    return tuple(make_life(seed, cast, vocabulary) for cast in plan(seed, size)[:first])


def make_life(
    seed: int,
    cast: Cast,
    vocabulary: Vocabulary,
    talkers: type[Talker] = Talker,
    chatter: tuple[int, int] = CHATTER,
) -> MadeLife:
    """Return the items of a person, with their only scenario.

    Args:
        cast: the person with their planned items.
        vocabulary: the packs.
        talkers: class of the writer of the sessions.
        chatter: fewest and most sessions of small talk.

    Raises:
        BrokenRule: see :func:`generate`.
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
    checks.check(scenario, items)
    return MadeLife(life, scenario, tuple(items))
