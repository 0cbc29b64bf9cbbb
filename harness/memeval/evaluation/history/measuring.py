"""Measures the chosen versions of a product one by one, oldest first; whatever is finished is stored at once."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memeval.archive.histories import history_of_system, version_folder, write_history
from memeval.archive.sources import keep_source, stored_sources
from memeval.evaluation.history.assembling import LOCKS, Past, assemble, product_version, resolved, version_source
from memeval.evaluation.history.locking import Resolution
from memeval.evaluation.history.released import Release, Releases
from memeval.evaluation.plan.executing import PlannedRun, run_plan
from memeval.evaluation.run.conforming import check_conformance
from memeval.execution.executor import StoppedEarly
from memeval.execution.progress import Progress
from memeval.execution.secrets import redact
from memeval.options import RunOptions
from memeval.records.conformance import CheckOutcome
from memeval.records.errors import BadInput, MemevalError, NotApplicable, NotLoaded
from memeval.records.history import (
    MeasuredVersion,
    ProductVersion,
    VersionHistory,
    VersionOutcome,
    VersionRun,
)
from memeval.records.submission import AdapterKind
from memeval.storage import cache_home, locked
from memeval.systems.environments import environment_for
from memeval.systems.environments.install import is_of_the_machine
from memeval.systems.folder import PAST
from memeval.systems.source import SystemSource

SETTLED = frozenset(VersionOutcome) - {VersionOutcome.RAN, VersionOutcome.UNFINISHED}
"""Outcomes that stay until the caller asks for another try."""

OF_THE_VERSION = (NotLoaded, NotApplicable, StoppedEarly)
"""Errors of a check or a run that the version itself causes. Any other ends the history, which can be resumed."""


@dataclass(frozen=True)
class Measurement:
    """What is measured, and where it is stored."""

    past: Past
    releases: Releases
    chosen: tuple[Release, ...]
    benchmarks: tuple[tuple[str, str, str], ...]
    """Id, protocol and tier of each."""
    options: RunOptions
    """Its ``results`` is the results folder that holds the history."""
    retry: bool = False
    """Whether versions that failed are tried again."""

    @property
    def slug(self) -> str:
        return self.past.source.slug

    @property
    def results(self) -> Path:
        return self.options.results

    def folder_of(self, version: str) -> Path:
        return version_folder(self.results, self.slug, version)


def measure(measurement: Measurement, progress: Progress) -> Iterator[MeasuredVersion]:
    """Measure the chosen versions, and yield what happened to each.

    A version that cannot be resolved, installed or loaded is a gap with its reason, and the next one follows. The
    environment of a version is deleted before the next one is built. After a kill, the same call resumes: a version
    keeps the lock that was resolved for it, and its unfinished run. Raises ``BadInput`` if the adapter changed since
    versions were measured, or the machine is at fault: its disk is full, or no index can be reached. Raises the error
    of a run that says nothing about the version, such as ``GatewayStopped``.
    """
    history = _history(measurement)
    for release in measurement.chosen:
        known = history.of(release.version)
        if known is not None and is_settled(measurement, known):
            yield known
            continue
        for each in _Version(measurement, release, known, progress).measured():
            history = _with(history, each, measurement.releases)
            write_history(measurement.results, history)
        yield history.of(release.version) or each


def _history(measurement: Measurement) -> VersionHistory:
    past, releases = measurement.past, measurement.releases
    stated = past.submission.product
    known = history_of_system(measurement.results, measurement.slug)
    if known is not None and (known.package, known.index) != (past.package, past.index):
        folder = measurement.results / "history" / measurement.slug
        raise BadInput(
            f"the stored history of '{measurement.slug}' counts the versions of {known.package}, not {past.package}.",
            where=f"{folder}.json",
            remedy=f"Move this file and the folder {folder} away, or restore 'package'.",
        )
    return VersionHistory(
        slug=measurement.slug,
        product=stated.name if stated else past.package,
        package=past.package,
        index=past.index,
        dated=releases.dated,
        known_versions=len(releases.plain),
        versions=known.versions if known else (),
        forms=known.forms if known else (),
    )


def _with(history: VersionHistory, measured: MeasuredVersion, releases: Releases) -> VersionHistory:
    order = {each.version: place for place, each in enumerate(releases.every)}
    others = [each for each in history.versions if each.version != measured.version]
    versions = sorted([*others, measured], key=lambda each: order.get(each.version, len(order)))
    return history.model_copy(update={"versions": tuple(versions)})


def is_settled(measurement: Measurement, measured: MeasuredVersion) -> bool:
    """Return whether nothing is left to do for a version."""
    if measured.outcome in SETTLED:
        return not measurement.retry
    if measured.outcome is VersionOutcome.UNFINISHED or measurement.options.fresh:
        return False
    done = {
        (each.benchmark, each.protocol, each.tier)
        for each in measured.runs
        if each.run_id is not None or not measurement.retry
    }
    return done.issuperset(measurement.benchmarks)


@dataclass(frozen=True)
class _Version:
    measurement: Measurement
    release: Release
    known: MeasuredVersion | None
    progress: Progress

    def measured(self) -> Iterator[MeasuredVersion]:
        """Yield what is known of the version after each step that must not be lost; the last is the result."""
        started = time.monotonic()
        past, releases = self.measurement.past, self.measurement.releases
        day = releases.day_of(self.release)
        dated = f" of {day}" if day else " (date unknown)"
        self.progress.note(f"{past.package} {self.release.version}{dated}")
        blank = MeasuredVersion(
            version=self.release.version,
            released=day,
            outcome=VersionOutcome.UNFINISHED,
            yanked=self.release.yanked,
            runs=tuple(each for each in (self.known.runs if self.known else ()) if each.run_id is not None),
        )
        with environments(self.measurement.slug) as place:
            cache = place / "cache"
            found = self._stored()
            if found is None:
                try:
                    resolution, others = resolved(past, releases, self.release)
                except MemevalError as error:
                    yield self._gap(blank, error, VersionOutcome.NOT_RESOLVED)
                    return
                stated = product_version(past, releases, self.release, resolution.text, resolution.substituted)
                yield _stating(blank, stated)
                found = self._kept(resolution, others, stated), stated
            files, stated = found
            begun = _stating(blank, stated)
            # A copy: no system may read the results folder, in which its files are stored.
            source = version_source(past, Path(shutil.copytree(files, place / "submission")), stated)
            try:
                begun = begun.model_copy(update={"megabytes": self._install(source, cache)})
            except MemevalError as error:
                yield self._gap(begun, error, VersionOutcome.NOT_INSTALLED)
                return
            try:
                failed = self._failed_check(source, cache)
            except OF_THE_VERSION as error:
                yield self._gap(begun, error, VersionOutcome.NOT_LOADED)
                return
            begun = begun.model_copy(update={"seconds": round(time.monotonic() - started, 1)})
            if failed is not None:
                yield begun.model_copy(update={"outcome": VersionOutcome.FAILED_CONFORMANCE, "reason": failed})
                return
            yield from self._run(source, cache, begun)

    def _kept(self, resolution: Resolution, others: dict[str, str], stated: ProductVersion) -> Path:
        """Store the files of the version, and return their folder."""
        past, release = self.measurement.past, self.release
        folder = self.measurement.folder_of(release.version)
        with TemporaryDirectory(prefix="memeval-history-") as place:
            assemble(past, release, resolution, others, Path(place))
            if reason := keep_source(folder, version_source(past, Path(place), stated)):
                raise BadInput(f"the files of {past.package} {release.version} cannot be stored: {reason}.")
        (kept,) = stored_sources(folder)
        return kept

    def _stored(self) -> tuple[Path, ProductVersion] | None:
        """Return the files of the version as they were stored with its lock; ``None`` before they are stored.

        Raises ``BadInput`` if the adapter changed since this or another version was measured.
        """
        past, release, known = self.measurement.past, self.release, self.known
        self._refuse_another_adapter()
        sources = stored_sources(self.measurement.folder_of(release.version))
        if not sources or known is None or known.lock is None:
            return None
        if self._changed(sources[0]) is not None:
            shutil.rmtree(self.measurement.folder_of(release.version))  # it has no run yet
            return None
        lock = next(sources[0] / name for name in LOCKS if (sources[0] / name).is_file()).read_text("utf-8")
        return sources[0], product_version(past, self.measurement.releases, release, lock, known.substituted)

    def _refuse_another_adapter(self) -> None:
        """Raise ``BadInput`` if a version with runs was measured by an adapter that is not that of today."""
        measurement = self.measurement
        history = history_of_system(measurement.results, measurement.slug)
        versions = history.versions if history else ()
        measured = {each.version for each in versions if any(run.run_id for run in each.runs)}
        for release in measurement.releases.every:
            sources = stored_sources(measurement.folder_of(release.version)) if release.version in measured else ()
            if sources and (changed := replace(self, release=release)._changed(sources[0])) is not None:
                raise BadInput(
                    f"{changed} is not what measured {measurement.past.package} {release.version}: a step between "
                    "versions could be the adapter's.",
                    where=sources[0],
                    remedy=f"Restore it, or move {measurement.results / 'history' / measurement.slug} away and "
                    "measure all versions again.",
                )

    def _changed(self, stored: Path) -> str | None:
        """Return the first file of code that is not the stored one; ``None`` if the adapter is that of today."""
        past = self.measurement.past
        form = past.form_of(self.release)
        replaced = None if form is None else (form.replaces or past.adapter)
        for inside, path in past.source.launch.files.items():
            if path.suffix not in (".py", ".mjs", ".js"):
                continue
            today = path if inside != replaced or form is None else past.folder / PAST / form.file
            if not (stored / inside).is_file() or (stored / inside).read_bytes() != today.read_bytes():
                return inside
        return None

    def _install(self, source: SystemSource, cache: Path) -> float:
        """Build the environment, and return its size in MB."""
        submission = source.submission
        entry = source.launch.file if submission is None or submission.kind is AdapterKind.PYTHON else None
        built = environment_for(source.launch.folder, entry, cache=cache, note=self.progress.note)
        return 0.0 if built is None else round(_size(built.folder) / 1e6, 1)

    def _failed_check(self, source: SystemSource, cache: Path) -> str | None:
        """Load the adapter and run the conformance checks; return the first that failed, ``None`` if none did."""
        options = self.measurement.options
        if options.skip_conformance:
            return None
        report = check_conformance(
            source,
            self.measurement.folder_of(self.release.version),
            self.progress,
            setup=replace(options.setup, cache=cache),
            models=options.models,
            limits=options.limits,
        )
        failed = (each for each in report.checks if each.mandatory and each.outcome is CheckOutcome.FAILED)
        return next((f"{each.name}: {each.detail}" for each in failed), None)

    def _gap(self, measured: MeasuredVersion, error: MemevalError, outcome: VersionOutcome) -> MeasuredVersion:
        """Return the version with the reason why it has no run. Raises the error if the machine is at fault."""
        if is_of_the_machine(error):
            raise error
        return measured.model_copy(update={"outcome": outcome, "reason": redact(error.problem)})

    def _run(self, source: SystemSource, cache: Path, begun: MeasuredVersion) -> Iterator[MeasuredVersion]:
        options = self.measurement.options
        folder = self.measurement.folder_of(self.release.version)
        setting = replace(options, results=folder, skip_conformance=True, setup=replace(options.setup, cache=cache))
        runs = list(begun.runs)
        done = {(each.benchmark, each.protocol, each.tier) for each in runs} if not options.fresh else set()
        todo = [each for each in self.measurement.benchmarks if each not in done]
        plan = [PlannedRun(source, *each) for each in todo]
        for (benchmark, protocol, tier), outcome in zip(todo, run_plan(plan, setting, self.progress), strict=True):
            run_id, reason = None, None
            if outcome.error is not None:
                if not isinstance(outcome.error, OF_THE_VERSION):
                    raise outcome.error
                _remove_unfinished(folder)
                reason = redact(outcome.error.problem)
            else:
                run_id = outcome.folders[-1].path.name
            if run_id is None or run_id not in {each.run_id for each in runs}:
                runs.append(VersionRun(benchmark=benchmark, protocol=protocol, tier=tier, run_id=run_id, reason=reason))
            begun = begun.model_copy(update={"runs": tuple(runs)})
            yield begun
        outcome_of_all, reason = VersionOutcome.RAN, None
        if not any(each.run_id for each in runs):
            outcome_of_all, reason = VersionOutcome.FAILED_RUN, next((each.reason for each in runs), None)
        yield begun.model_copy(update={"outcome": outcome_of_all, "reason": reason})


def _stating(measured: MeasuredVersion, stated: ProductVersion) -> MeasuredVersion:
    return measured.model_copy(update={"form": stated.form, "lock": stated.lock, "substituted": stated.substituted})


def _remove_unfinished(folder: Path) -> None:
    """Remove the rows of a run that failed: no later call could resume it, as its version has its result."""
    for journal in folder.glob("*/*/*/journal"):
        if not (journal.parent / "run.json").is_file():
            shutil.rmtree(journal.parent)


@contextmanager
def environments(slug: str) -> Iterator[Path]:
    """Give an empty folder for the files of one version, and delete it at the end; also one of a killed call."""
    home = cache_home() / "history" / slug
    home.mkdir(parents=True, exist_ok=True)
    with locked(home, busy=f"another command measures the history of '{slug}'."):
        inside = home / "version"
        shutil.rmtree(inside, ignore_errors=True)
        inside.mkdir()
        try:
            yield inside
        finally:
            shutil.rmtree(inside, ignore_errors=True)


def _size(folder: Path) -> int:
    return sum(os.lstat(Path(place, name)).st_size for place, _folders, names in os.walk(folder) for name in names)
