"""Puts a judge on trial on labelled answers: ``python -m bench.labelled_judge local:qwen2.5-coder-0.5b locomo-vague``.

People's labels say which published answers are right, imprecise or wrong. The judge grades them by memeval's prompts.
Counts by label go to ``site/labelled-judges.json`` and into ``site/model.md``, with those of the rules and of the judge
whose verdicts were published with the answers. Answers and replies are other people's text, and are not stored.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.page_tables import with_stored, write_results
from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.verdicts import judgments
from memeval.execution.progress import Progress
from memeval.gateway.record import CallRecord
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge
from memeval.labels.reading import final_labels
from memeval.labels.sheets import PublishedAnswers
from memeval.labels.store import sample_rows, stored_readings, stored_samples
from memeval.options import ModelOptions
from memeval.records.label import AnswerLabel, SampleRow

OUT, PAGE = Path("site/labelled-judges.json"), Path("site/model.md")
START, END = "<!-- labelled judges -->\n", "<!-- end of labelled judges -->\n"
"""The marks around the table in the page."""

PUBLISHED = "published verdicts"

RESULTS, SOURCES = Path("results"), Path("sources")
RECORD = Path("build/labelled-judge")
"""Where replies are recorded, so that an interrupted measurement resumes."""


def labelled(name: str, count: int) -> tuple[str, list[tuple[SampleRow, AnswerLabel]]]:
    """Return the benchmark of a sample, and its first rows that have a label; ids of rows are random."""
    sample = next(each for each in stored_samples(RESULTS) if each.name == name)
    final = final_labels(stored_readings(RESULTS, sample))
    rows = sorted(sample_rows(RESULTS, sample), key=lambda row: row.label_id)
    return sample.benchmark, [(row, final[row.label_id]) for row in rows if row.label_id in final][:count]


def cases(rows: Sequence[SampleRow], benchmark: str, files: Path | None) -> Iterator[Case]:
    answers = PublishedAnswers(SOURCES, Copies(files), Sessions({}))
    session = answers.sessions.session(benchmark, None, None)
    keys = {key.item_id: key for key in session.dataset.answer_keys()}
    for row in rows:
        key = keys[row.item_id]
        scenario = session.scenarios[key.scenario_id]
        question = next(ask.question for ask in scenario.questions() if ask.question_id == key.question_ids[0])
        text = answers.texts(row.file)[row.item_id, row.trial]
        yield Case(row.item_id, question, text, key.key, scenario)


def counted(verdicts: Sequence[bool | None], labels: Sequence[AnswerLabel]) -> dict[str, dict[str, int]]:
    """Return by label how many answers there are, how many were accepted, and how many got no verdict."""
    found = {}
    for label in AnswerLabel:
        mine = [verdict for verdict, given in zip(verdicts, labels, strict=True) if given is label]
        found[label.value] = {"rows": len(mine), "accepted": mine.count(True), "no_verdict": mine.count(None)}
    return found


def measured(named: str, sample: str, count: int, files: Path | None) -> list[dict[str, Any]]:
    """Return the counts of the judge, of the rules of today, and of the published verdicts, over the same rows."""
    benchmark, chosen = labelled(sample, count)
    rows, labels = [row for row, _label in chosen], [label for _row, label in chosen]
    made, judge = list(cases(rows, benchmark, files)), choose_judge(named)
    with models_for(RECORD, ModelOptions()) as models:
        models.open_run(f"labels-{sample}", CallRecord(None))
        recorded = judge.recorded(judgments(judge, made, models, Progress(), judge.name))
        said = [recorded.rule(case).verdict for case in made]
    graders: dict[str, list[bool | None]] = {
        judge.name: said,
        RulesJudge.name: [RulesJudge().rule(case).verdict for case in made],
        PUBLISHED: [row.judge for row in rows],
    }
    common = {"sample": sample, "rows": len(rows), "endpoint": judge.endpoint}
    return [common | {"grader": name, "labels": counted(each, labels)} for name, each in graders.items()]


def table_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    if not rows:
        return "\nNot measured yet.\n\n"
    lines = [
        "",
        "| sample | grader | right, rejected | imprecise, accepted | wrong, accepted | no verdict |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        right, imprecise, wrong = (row["labels"][label.value] for label in AnswerLabel)
        rejected = right["rows"] - right["accepted"] - right["no_verdict"]
        cells = [
            f"{rejected} of {right['rows']}",
            *(f"{each['accepted']} of {each['rows']}" for each in (imprecise, wrong)),
            str(sum(each["no_verdict"] for each in row["labels"].values())),
        ]
        lines.append(f"| `{row['sample']}`, {row['rows']} answers | `{row['grader']}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def write(rows: Sequence[dict[str, Any]], out: Path = OUT, page: Path = PAGE) -> None:
    """Write results to their file, and their table into the page."""
    write_results(rows, table_of(rows), out, page, (START, END))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.labelled_judge", description=__doc__)
    parser.add_argument("judge")
    parser.add_argument("sample")
    parser.add_argument("--rows", type=int, default=1_000, help="Rows to grade, at most.")
    parser.add_argument("--from", dest="files", type=Path, help="Folder of published files. Default: the pulled ones.")
    given = parser.parse_args()
    rows = measured(given.judge, given.sample, given.rows, given.files)
    write(with_stored(OUT, rows, "sample", "grader"))
    print(table_of(rows))


if __name__ == "__main__":
    main()
