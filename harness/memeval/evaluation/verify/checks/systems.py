"""Checks which system a stored run is of: the shipped control, or the submission whose files are here by digest."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from memeval.archive.runs import RunFolder
from memeval.archive.sources import SOURCES, find_sources, source_fault, stored_sources
from memeval.benchmarks.registry import PACKAGES, known_ids, origin
from memeval.evaluation.verify.findings import REMEDY, Check, Finding
from memeval.execution.preparation import PreparedSystem
from memeval.local import is_local
from memeval.records.base import Digest, canonical_json
from memeval.records.errors import MemevalError
from memeval.records.run import Run, SystemIdentity, SystemKind, View
from memeval.records.submission import AdapterKind
from memeval.storage import listed
from memeval.systems.channel import visible
from memeval.systems.child import Launch
from memeval.systems.controls import controls_of
from memeval.systems.known import Known, KnownControl, known, present_control
from memeval.systems.launching import DRIVERS
from memeval.systems.messages import AdapterInfo, with_storage
from memeval.systems.methods import ClassMethods, methods_in
from memeval.systems.source import SUBMISSIONS, SystemSource, altered_source, variant_source
from memeval.systems.worker import TEXTS_TOGETHER

NAME = "system"

NO_SOURCE = "source not here"
"""The reason if no folder has the digest of a system."""

NEEDS_RUN = "only a run shows the methods of the system"
"""The reason if the methods of a system do not follow from its text."""

ELSEWHERE = "the answers were made elsewhere"
"""The reason for imported answers: there is no system."""

LONGEST_VALUE = 80
"""Characters of a value that a finding shows."""

_RUNNERS_WORD = frozenset({"environment", "environment_digest"})
"""Fields that do not follow from the files of a system."""

_NAMED = {"services": "name", "hosts": "host"}
"""Fields of which only the names follow from the files, with the name's field."""


def check_system(folder: RunFolder, submissions: Path = SUBMISSIONS, passed: dict[str, Check] | None = None) -> Check:
    """Check that the system in ``run.json`` is the one whose digest it names.

    Its environment, isolation, commit, command line and clocks are the word of the runner, and are not checked.
    ``folder``: the run. Sources are looked up in its results folder. ``submissions``: the folder of submissions, where
    sources are looked up next. ``passed``: checks without problems against a source, by what was compared; new ones are
    added. Runs of one system are then compared with its files once.
    """
    try:
        run = folder.run
    except MemevalError:
        return Check(NAME, not_checked="run.json cannot be read")
    system = run.system
    check = _Check(f"{folder.path / 'run.json'}: system", system)
    if system.kind is SystemKind.CONTROL:
        return check.brought(run) if _is_brought(run, known()) else Check(NAME, tuple(check.control(known())))
    if findings := tuple(check.not_a_control(known())):
        return Check(NAME, findings)
    if system.kind is SystemKind.IMPORTED:
        return Check(NAME, not_checked=ELSEWHERE)
    results = folder.path.absolute().parent.parent.parent
    if passed is None:
        return check.source(results, submissions)
    compared = canonical_json([str(results), system.model_dump(mode="json", exclude=set(_RUNNERS_WORD))])
    if compared not in passed:
        made = check.source(results, submissions)
        if made.findings:
            return made
        passed[compared] = made
    return passed[compared]


def check_sources(results: Path) -> Iterator[Finding]:
    """Yield the problems of the stored sources of a results folder, whether a run names them or not."""
    sources = set(stored_sources(results))
    for path in listed(results / SOURCES, "*/*"):
        if path not in sources:
            yield Finding(visible(str(path)), "is not the folder of a source.", "Remove it.")
        elif fault := source_fault(path):
            yield _finding_of(fault)


@dataclass(frozen=True)
class _Check:
    where: str
    """``FILE: system``."""
    system: SystemIdentity

    def control(self, shipped: Known) -> Iterator[Finding]:
        system = self.system
        versions = [each for each in shipped.controls if each.slug == system.slug]
        same = [each for each in versions if each.digest == system.submission_digest]
        if not versions:
            yield self._finding("slug", f"is '{system.slug}', but memeval ships no such control.")
        elif not same:
            owner = _owner(system.submission_digest, shipped)
            yield self._finding("submission_digest", f"is not that of the control {system.slug}, but {owner}.")
        else:
            yield from self._differences([_control_identity(each) for each in same])

    def brought(self, run: Run) -> Check:
        benchmark, slug = run.track.benchmark, self.system.slug
        if benchmark not in known_ids():
            return Check(NAME, not_checked=f"the benchmark {benchmark} is not installed here")
        package, control = origin(benchmark), controls_of(benchmark).get(slug)
        if run.harness.packages.get(package.package) != package.version:
            return Check(NAME, not_checked=f"another version of {package.package} is installed here")
        if control is None:
            return Check(NAME, (self._finding("slug", f"is '{slug}', but {package} has no such control."),))
        present = present_control(control)
        if present.digest != self.system.submission_digest:
            problem = f"is not that of the control {slug} of {package}."
            return Check(NAME, (self._finding("submission_digest", problem),))
        return Check(NAME, tuple(self._differences([_control_identity(present)])))

    def not_a_control(self, shipped: Known) -> Iterator[Finding]:
        """Yield the problems of a run of another system that follow from the list of digests alone."""
        system = self.system
        if system.view is not View.ALL:
            yield self._finding("view", f"is '{system.view}', but only a shipped control may have a view.")
        if any(each.slug == system.slug for each in shipped.controls):
            yield self._finding("kind", f"is '{system.kind}', but '{system.slug}' is the name of a shipped control.")
        controls = shipped.controls_with(system.submission_digest)
        submissions = shipped.submissions_with(system.submission_digest)
        owner = _owner(system.submission_digest, shipped)
        # A single file may be a copy of a control's file: it has the same digest.
        if (controls and system.kind is not SystemKind.FILE) or (
            submissions and system.kind is not SystemKind.SUBMISSION
        ):
            yield self._finding("kind", f"is '{system.kind}', but the digest is {owner}.")
        elif submissions and not any(f"{system.slug}-".startswith(f"{each.slug}-") for each in submissions):
            yield self._finding("slug", f"is '{system.slug}', but the digest is {owner}.")
        elif submissions and all(system.version != each.version for each in submissions):
            yield self._finding("version", f"is {_text(system.version)}, but the digest is {owner}.")

    def source(self, results: Path, submissions: Path) -> Check:
        digest = self.system.submission_digest
        stored = stored_sources(results, digest)
        if faults := [fault for folder in stored if (fault := source_fault(folder))]:
            return Check(NAME, tuple(map(_finding_of, faults)))
        sources = list(find_sources(results, digest, self.system.slug, submissions))
        if not sources:
            return Check(NAME, not_checked=NO_SOURCE)
        first = sources[0]
        is_class = first.submission is None or first.submission.kind is AdapterKind.PYTHON
        found = methods_in(first.launch.file, first.launch.class_name) if is_class else None
        identities = [_identity(each, found) for source in sources for each in _configurations(source, self.system)]
        skipped = _unknown_fields(first, found)
        findings = tuple(self._differences(identities, skipped))
        return Check(NAME, findings, NEEDS_RUN if "capabilities" in skipped else None)

    def _differences(
        self, identities: list[SystemIdentity], skipped: frozenset[str] = frozenset()
    ) -> Iterator[Finding]:
        """Yield a finding for each field that differs from the most similar of several identities."""
        fields = [name for name in SystemIdentity.model_fields if name not in skipped | _RUNNERS_WORD]
        identities = [_of_its_day(each, self.system) for each in identities]

        def differing(identity: SystemIdentity) -> list[str]:
            return [field for field in fields if _value(self.system, field) != _value(identity, field)]

        nearest = min(identities, key=lambda identity: len(differing(identity)))
        for field in differing(nearest):
            stated, expected = (_text(_value(each, field)) for each in (self.system, nearest))
            yield self._finding(field, f"is {stated}, but the files of the system give {expected}.")

    def _finding(self, field: str, problem: str) -> Finding:
        return Finding(f"{self.where}.{field}", problem)


def _is_brought(run: Run, shipped: Known) -> bool:
    """Return whether a run of a control is of one that only a package of somebody else can have."""
    benchmark = run.track.benchmark
    is_foreign = not origin(benchmark).is_own if benchmark in known_ids() else run.harness.packages.keys() - PACKAGES
    return bool(is_foreign) and all(each.slug != run.system.slug for each in shipped.controls)


def _owner(digest: Digest, shipped: Known) -> str:
    if controls := shipped.controls_with(digest):
        return f"that of the control {' or '.join(dict.fromkeys(each.slug for each in controls))}"
    if submissions := shipped.submissions_with(digest):
        return f"that of the submission {' or '.join(f'{each.slug} {each.version}' for each in submissions)}"
    return "that of other files"


def _control_identity(control: KnownControl) -> SystemIdentity:
    source = SystemSource(
        slug=control.slug,
        name=control.name,
        version=control.version,
        kind=SystemKind.CONTROL,
        launch=Launch(Path(control.slug)),
        submission_digest=control.digest,
        view=control.view,
    )
    return _identity(source, ClassMethods(control.adapter_class, control.capabilities))


def _identity(source: SystemSource, found: ClassMethods | None) -> SystemIdentity:
    """Return the identity that a run of a system records; without its environment, and with names of hosts only."""
    found = found or ClassMethods(source.launch.class_name or "", ())
    capabilities = with_storage(found.capabilities) if source.launch.stores else found.capabilities
    adapter = AdapterInfo(found.class_name, capabilities, implementation="", python="", packages={})
    identity = PreparedSystem(source).identity(adapter)
    if source.submission is None:
        return identity
    declared = source.submission
    return identity.model_copy(
        update={"services": declared.services, "hosts": tuple(sorted(declared.hosts, key=lambda host: host.host))}
    )


def _of_its_day(identity: SystemIdentity, stated: SystemIdentity) -> SystemIdentity:
    """Return an identity as the memeval of a run recorded it.

    An older one did not look for ``texts_together``. The setup of a model on the runner's machine is the runner's word.
    """
    if tuple(each.partition("/")[0] if is_local(each) else each for each in stated.declared_models) == (
        identity.declared_models
    ):
        identity = identity.model_copy(update={"declared_models": stated.declared_models})
    if TEXTS_TOGETHER in stated.capabilities:
        return identity
    older = tuple(each for each in identity.capabilities if each != TEXTS_TOGETHER)
    return identity.model_copy(update={"capabilities": older})


def _unknown_fields(source: SystemSource, found: ClassMethods | None) -> frozenset[str]:
    """Return the fields that do not follow from the files of this system."""
    if found is not None:
        return frozenset()
    has_driver = source.submission is not None and source.submission.kind in DRIVERS
    return frozenset({"capabilities"} if has_driver else {"capabilities", "adapter_class"})


def _configurations(source: SystemSource, system: SystemIdentity) -> list[SystemSource]:
    """Return a submission, its variants, and itself with the run's parameters, as a matrix changes them."""
    if source.submission is None:
        return [source]
    found = [source, *(variant_source(source, name) for name in source.submission.variants)]
    altered = [(each, system.slug.removeprefix(f"{each.slug}-")) for each in found]
    return found + [altered_source(*each, system.parameters) for each in altered if each[1] != system.slug]


def _value(system: SystemIdentity, field: str) -> Any:
    value = getattr(system, field)
    name = _NAMED.get(field)
    return value if name is None else tuple(str(getattr(each, name)) for each in value)


def _text(value: Any) -> str:
    text = visible(json.dumps(to_jsonable_python(value), ensure_ascii=False, sort_keys=True))
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _finding_of(error: MemevalError) -> Finding:
    return Finding(visible(str(error.where)), visible(error.problem), error.remedy or REMEDY)
