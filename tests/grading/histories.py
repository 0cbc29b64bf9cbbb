"""Small histories of several turns a session, and what a system could bring up from them. All of it is synthetic."""

from collections.abc import Sequence

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.keys import ItemKey
from memeval.records.response import Outcome, Response, RetrievedItem
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from tests.grading.builders import reply

Said = Sequence[tuple[str, str]]
"""Role and content of the turns of a session."""


def history(*sessions: Said, sources: Sequence[str] | None = None) -> Scenario:
    """Return a scenario with one question; sessions are called ``S1``, ``S2``, … unless named."""
    steps = [
        Ingest(
            source_id=sources[n - 1] if sources else f"S{n}",
            session=Session(
                session_id=f"s{n:03}",
                date=f"2021-03-0{n}T10:00:00Z",
                turns=tuple(
                    Turn(turn_id=f"s{n:03}:t{m:02}", role=role, content=content)
                    for m, (role, content) in enumerate(said, 1)
                ),
            ),
        )
        for n, said in enumerate(sessions, 1)
    ]
    return Scenario(scenario_id="x", steps=(*steps, Ask(question_id="x:0", question="Where did Ada row?")))


def locomo_item(
    answer: str | None = "Lima",
    category: LocomoCategory = LocomoCategory.SINGLE_HOP,
    evidence: Sequence[str] = (),
    sessions: Sequence[str] = (),
    turns: Sequence[str] = (),
    trap: str | None = None,
) -> ItemKey:
    key = LocomoKey(category=category, answer=answer, trap=trap, evidence=tuple(evidence), evidence_turns=tuple(turns))
    return _item(key, category.value, sessions)


def lme_item(sessions: Sequence[str] = (), turns: Sequence[str] = (), abstention: bool = False) -> ItemKey:
    kind = LongMemEvalType.MULTI_SESSION
    key = LongMemEvalKey(question_type=kind, abstention=abstention, answer="Lima", evidence_turns=tuple(turns))
    return _item(key, kind.value, sessions)


def _item(key: LocomoKey | LongMemEvalKey, category: str, sessions: Sequence[str]) -> ItemKey:
    return ItemKey(
        item_id="x:0",
        scenario_id="x",
        question_ids=("x:0",),
        category=category,
        cluster="x",
        evidence=tuple(sessions) or None,
        key=key,
    )


def named(*sources: str | Sequence[str]) -> tuple[RetrievedItem, ...]:
    """Return items with text of a system's own, which name the sources they come from."""
    groups = [(each,) if isinstance(each, str) else tuple(each) for each in sources]
    return tuple(RetrievedItem(text=f"memory {n}", source_ids=group) for n, group in enumerate(groups))


def answered(
    answer: str = "", items: Sequence[RetrievedItem] | None = None, outcome: Outcome | None = None
) -> Response:
    return reply(lme_item(), answer, items, outcome, counted=None if items is None else 7)
