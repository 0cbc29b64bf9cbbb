"""``known.toml`` lists every digest of a control or a shipped submission, those of the stored runs included."""

from __future__ import annotations

import tomllib
from pathlib import Path

from memeval.archive.runs import sealed_runs
from memeval.records.run import SystemKind, View
from memeval.systems.known import KnownControl, KnownSubmission, as_toml, known, missing

ROOT = Path(__file__).resolve().parents[2]


def test_every_present_control_and_submission_is_listed() -> None:
    assert missing(ROOT / "submissions") == [], "run python -m memeval.systems.known"


def test_every_stored_run_of_a_control_or_shipped_submission_is_listed() -> None:
    for folder in sealed_runs(ROOT / "results"):
        system = folder.run.system
        listed = (
            [(each.slug, each.version) for each in known().controls_with(system.submission_digest)]
            if system.kind is SystemKind.CONTROL
            else [(each.slug, each.version) for each in known().submissions if each.digest == system.submission_digest]
        )
        is_shipped = (ROOT / "submissions" / system.slug).is_dir() or system.kind is SystemKind.CONTROL
        assert (system.slug, system.version) in listed or not is_shipped


def test_nothing_is_listed_twice() -> None:
    assert len(set(known().controls)) == len(known().controls)
    digests = [each.digest for each in known().submissions]
    assert len(set(digests)) == len(digests)


def test_only_the_oracle_has_a_view() -> None:
    assert {each.slug for each in known().controls if each.view is not View.ALL} == {"oracle"}


def test_what_is_added_is_read_back() -> None:
    digest = f"sha256:{'0' * 64}"
    control = KnownControl("a", "A", "1", digest, View.EVIDENCE, "A", ("query", "search"))
    data = tomllib.loads(as_toml([control, KnownSubmission("b", "2", digest)]))
    assert data["control"] == [
        {
            "slug": "a",
            "name": "A",
            "version": "1",
            "digest": digest,
            "view": "evidence",
            "adapter_class": "A",
            "capabilities": ["query", "search"],
        }
    ]
    assert data["submission"] == [{"slug": "b", "version": "2", "digest": digest}]
