"""Scores a file of answers or rankings, without an adapter and without storing a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memeval.benchmarks.formats.reading import UNKNOWN_SOURCE, ImportedAnswers
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.importing import response_to
from memeval.evaluation.judge.grades import grade_items
from memeval.grading.evidence import index_of, measures
from memeval.grading.scoring import headline
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.response import Response
from memeval.statistics.composite import CompositeEstimate, Layout, composite_interval

DEPTHS = (1, 3, 5, 10)

MEASURES = ("recall", "hit", "precision", "ndcg")
"""The measures at each cut-off rank."""

NAMES = (*(f"{measure}@{depth}" for depth in DEPTHS for measure in MEASURES), "mrr")
"""Names of all measures of a ranking."""


@dataclass(frozen=True)
class FileScore:
    benchmark: str
    protocol: str
    tier: str
    data_digest: Digest
    planned: int
    """Scored questions of the protocol and tier."""
    missing: tuple[str, ...]
    """Scored questions without an entry. Their items count as wrong."""
    unknown: tuple[str, ...]
    """Ids in the file that the protocol and tier do not score."""
    unknown_sources: tuple[str, ...]
    """Retrieved ids that the benchmark does not have, each once. They count as irrelevant."""
    scores: Mapping[str, CompositeEstimate]
    """Means over all planned questions with 95 % intervals, by name; the headline first."""
    categories: Mapping[str, float]
    """Mean headline credit by category."""


def score_answers(answers: ImportedAnswers, session: BenchmarkSession) -> FileScore:
    """Score answers or rankings.

    Raises ``BadInput`` if a category has no question, no entry belongs to a planned question, or the file has rankings
    for a protocol of answers, or the other way round.
    """
    given = {answer.question_id: answer for answer in answers.answers}
    plans = [plan for plan in session.benchmark.plan(session.keys, session.protocol, session.tier) if plan.weight]
    groups = [[key for key in session.keys if key.category == plan.name] for plan in plans]
    if absent := [plan.name for plan, members in zip(plans, groups, strict=True) if not members]:
        raise BadInput(
            f"the data has no question of the category '{absent[0]}', which counts in the score.",
            where=session.benchmark.info.id,
            remedy="Add questions of every category to the data.",
        )
    keys = [key for members in groups for key in members]
    planned = [question for key in keys for question in key.question_ids]
    present = [key for key in keys if given.keys() >= set(key.question_ids)]
    where = answers.imported.file
    if not present:
        raise BadInput(
            f"none of the {len(given)} entries belongs to a question of {session.benchmark.info.id}.",
            where=where,
            remedy="Use the question ids of the benchmark's data, or name another --benchmark or --tier.",
        )
    ranked = session.protocol_info.grades_rankings
    if ranked != (answers.has_rankings):
        wanted = "lists of ids" if ranked else "answers"
        raise BadInput(f"the protocol '{session.protocol}' scores {wanted}.", where=where, remedy="Choose --protocol.")
    responses = [
        response_to(given[question], key, session, own_ids=True) for key in present for question in key.question_ids
    ]
    grades = {grade.item_id: grade for grade in grade_items(session, present, responses, RulesJudge())}
    credits = {key.item_id: (headline(grades[key.item_id]) or 0.0) for key in present}
    clusters = tuple(tuple(key.cluster for key in members) for members in groups)
    layout = Layout(weights=tuple(plan.weight for plan in plans), clusters=clusters)
    retrieved = (source for response in responses for item in response.items or () for source in item.source_ids)
    sources = (each for each in retrieved if each.startswith(UNKNOWN_SOURCE))
    values = {"score": credits}
    if ranked and "recall" not in session.protocol_info.needs:  # texts in banks are of no session
        values |= _ranked(session, {response.item_id: response for response in responses}, present)
    return FileScore(
        benchmark=session.benchmark.info.id,
        protocol=session.protocol,
        tier=session.tier,
        data_digest=session.dataset.digest,
        planned=len(planned),
        missing=tuple(question for question in planned if question not in given),
        unknown=tuple(sorted(given.keys() - set(planned))),
        unknown_sources=tuple(sorted({each.removeprefix(UNKNOWN_SOURCE) for each in sources})),
        scores={
            name: composite_interval(layout, [[earned.get(key.item_id, 0.0) for key in members] for members in groups])
            for name, earned in values.items()
        },
        categories={
            plan.name: sum(credits.get(key.item_id, 0.0) for key in members) / len(members)
            for plan, members in zip(plans, groups, strict=True)
        },
    )


def _ranked(
    session: BenchmarkSession, responses: Mapping[str, Response], present: Sequence[ItemKey]
) -> dict[str, dict[str, float]]:
    """Return the measures of sessions, and of turns if the ranking names them, by name and item."""
    found: dict[str, dict[str, float]] = {f"session_{name}": {} for name in NAMES}
    for key in present:
        retrieved = index_of(session.scenarios[key.scenario_id]).retrieved(responses[key.item_id].items or ())
        rankings = {"session": (retrieved.sessions, retrieved.relevant(key.evidence or ()))}
        if retrieved.turns is not None and key.key.relevant_turns:
            rankings["turn"] = (retrieved.turns, retrieved.relevant(key.key.relevant_turns))
        for kind, (ranking, relevant) in rankings.items():
            for name, value in measures(ranking, relevant, DEPTHS).items():
                if name in NAMES:
                    found.setdefault(f"{kind}_{name}", {})[key.item_id] = value
    return found
