"""``known.toml`` lists every digest of a control or a shipped submission, those of the stored runs included."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.records.ledger import LedgerEvent
from memeval.records.run import SystemKind, View
from memeval.systems.controls import all_controls
from memeval.systems.known import KnownControl, KnownSubmission, as_toml, known, present_control

RESULTS = Path(__file__).resolve().parents[2] / "results"
ADD = "run python -m memeval.systems.known"


def test_every_present_control_is_listed() -> None:
    present = map(present_control, all_controls().values())
    assert [each for each in present if each not in known().controls] == [], ADD


def test_the_system_of_every_accepted_run_is_listed() -> None:
    """A pull request may add a submission and runs of it; a maintainer lists it with the acceptance of a run."""
    entries = Ledger(RESULTS).entries()
    accepted = {entry.run_digest for entry in entries if entry.event is LedgerEvent.ACCEPTED}
    systems = [folder.run.system for folder in sealed_runs(RESULTS) if folder.digest in accepted]
    assert len(systems) >= 41
    for system in systems:
        of_control = system.kind is SystemKind.CONTROL
        listed: Sequence[KnownControl | KnownSubmission] = known().controls if of_control else known().submissions
        same = [each for each in listed if each.digest == system.submission_digest]
        slugs = [each.slug for each in same if each.version == system.version]
        assert any(f"{system.slug}-".startswith(f"{slug}-") for slug in slugs), ADD


def test_nothing_is_listed_twice() -> None:
    assert len(set(known().controls)) == len(known().controls)
    assert len(set(known().submissions)) == len(known().submissions)


def test_only_the_oracles_have_a_view() -> None:
    assert {each.slug for each in known().controls if each.view is not View.ALL} == {"oracle", "expected-turns"}


def test_what_is_added_is_read_back() -> None:
    digest = f"sha256:{'0' * 64}"
    control = KnownControl("a", "A", "1", digest, View.EVIDENCE, "A", ("query", "search"))
    data = tomllib.loads(as_toml([control, KnownSubmission("b", "2", digest)]))
    named = {"slug": "a", "name": "A", "version": "1", "digest": digest, "view": "evidence"}
    assert data["control"] == [named | {"adapter_class": "A", "capabilities": ["query", "search"]}]
    assert data["submission"] == [{"slug": "b", "version": "2", "digest": digest}]
