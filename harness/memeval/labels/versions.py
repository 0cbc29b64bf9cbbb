"""Grades labelled answers by the rules of today, and counts what they pass in whole files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memeval.benchmarks.session import BenchmarkSession
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, ReferenceKey
from memeval.labels.sheets import PublishedAnswers
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample, PassedRows, RulesVerdicts, SampleRow


def verdicts_of(
    rules: RulesJudge,
    sample: LabelSample,
    rows: Sequence[SampleRow],
    answers: PublishedAnswers,
    tuned_on: Collection[str],
    others: Iterable[str] = (),
) -> RulesVerdicts:
    """Return what a version of the rules says about the drawn rows, and its counts over whole files.

    Args:
        rules: the version of the rules.
        rows: its drawn rows.
        tuned_on: the clusters on which the version was tuned.
        others: further files to count in, ``source/file``.

    Raises:
        BadInput: an answer is missing or is not the one that was drawn, or there is no such cluster.
    """
    session = answers.sessions.session(sample.benchmark, None, None)
    keys = {key.item_id: key for key in session.dataset.keys()}  # noqa: SIM118 - no dictionary
    if unknown := set(tuned_on) - {key.cluster for key in keys.values()}:
        raise BadInput(f"{sample.benchmark} has no cluster '{min(unknown)}'.", remedy="Correct --tuned-on.")
    files = sorted({*sample.files, *others})
    verdicts = {name: _verdicts(rules, session, keys, answers, name) for name in files}
    for row in rows:
        text = answers.texts(row.file).get((row.item_id, row.trial), "")
        if digest_bytes(text.encode()) != row.answer_digest:
            raise BadInput(
                f"the answer of '{row.label_id}' is not the one that was drawn.",
                where=row.file,
                remedy="Fetch the published file again: memeval sources pull.",
            )
    return RulesVerdicts(
        sample=sample.name,
        rows_digest=sample.rows_digest,
        judge=rules.name,
        tuned_on=tuple(sorted(tuned_on)),
        accepted=tuple(sorted(row.label_id for row in rows if verdicts[row.file][row.item_id, row.trial])),
        files={name: _counted(found, keys, tuned_on) for name, found in verdicts.items()},
    )


def _verdicts(
    rules: RulesJudge, session: BenchmarkSession, keys: dict[str, ItemKey], answers: PublishedAnswers, name: str
) -> dict[tuple[str, int], bool]:
    """Return the verdicts about a file by item and trial, without those about rubrics."""
    found = {}
    for (item, trial), text in answers.texts(name).items():
        key = keys[item]
        if not isinstance(key.key, ReferenceKey) or key.key.is_rubric:
            continue
        scenario = session.scenarios[key.scenario_id]
        question = next(ask.question for ask in scenario.questions() if ask.question_id == key.question_ids[0])
        found[item, trial] = rules.rule(Case(item, question, text, key.key, scenario)).verdict is True
    return found


def _counted(verdicts: dict[tuple[str, int], bool], keys: dict[str, ItemKey], tuned_on: Collection[str]) -> PassedRows:
    halves: dict[bool, list[bool]] = {True: [], False: []}
    for (item, _trial), verdict in verdicts.items():
        halves[keys[item].cluster in tuned_on].append(verdict)
    return PassedRows(
        tuned=sum(halves[True]),
        tuned_rows=len(halves[True]),
        reported=sum(halves[False]),
        reported_rows=len(halves[False]),
    )
