"""Compares a form of the adapter for old versions with the present adapter, on a version that both accept."""

from collections.abc import Iterator
from dataclasses import replace

from memeval.archive.histories import history_of_system, write_history
from memeval.archive.runs import RunFolder
from memeval.evaluation.history.assembling import assemble, product_version, resolved, version_source
from memeval.evaluation.history.choosing import chosen
from memeval.evaluation.history.measuring import Measurement, environments
from memeval.evaluation.plan.executing import PlannedRun, run_plan
from memeval.execution.progress import Progress
from memeval.records.history import AdapterForm, CheckedForm


def compare_forms(measurement: Measurement, progress: Progress) -> Iterator[CheckedForm]:
    """Run each form and the present adapter on the version that both accept, and yield whether the rows are equal.

    The result is stored in the history, if there is one. Raises ``MemevalError`` if a run fails.
    """
    found: list[CheckedForm] = []
    for form in measurement.past.declaration.forms:
        if form.both is None:
            continue
        for each in _compared(measurement, form, form.both, progress):
            found.append(each)
            yield each
    history = history_of_system(measurement.results, measurement.slug)
    if history is not None:
        write_history(measurement.results, history.model_copy(update={"forms": tuple(found)}))


def _compared(measurement: Measurement, form: AdapterForm, version: str, progress: Progress) -> Iterator[CheckedForm]:
    past, releases = measurement.past, measurement.releases
    for_all = form.model_copy(update={"versions": ""})
    past = replace(past, declaration=past.declaration.model_copy(update={"forms": (for_all,)}))
    (release,) = chosen(releases, [version])
    resolution, others = resolved(past, releases, release)
    digests: list[list[RunFolder]] = []
    with environments(measurement.slug) as scratch:
        for number, present in enumerate((False, True)):
            folder = scratch / str(number)
            (folder / "files").mkdir(parents=True)
            assemble(past, release, resolution, others, folder / "files", present=present)
            stated = product_version(past, releases, release, resolution.text, resolution.substituted)
            source = version_source(past, folder / "files", stated)
            setup = replace(measurement.options.setup, cache=scratch / "cache")
            options = replace(measurement.options, results=folder / "results", setup=setup, skip_conformance=True)
            runs = []
            for outcome in run_plan([PlannedRun(source, *each) for each in measurement.benchmarks], options, progress):
                if outcome.error is not None:
                    raise outcome.error
                runs.append(outcome.folders[-1])
            digests.append(runs)
        for (benchmark, protocol, tier), one, other in zip(measurement.benchmarks, *digests, strict=True):
            yield CheckedForm(
                file=form.file,
                version=release.version,
                benchmark=benchmark,
                protocol=protocol,
                tier=tier,
                equal=one.run.responses_digest == other.run.responses_digest,
            )
