"""The runs this repository holds: every one verifies, and one of each track is graded again to the same bytes.

A track names all that grades its answers. ``memeval reproduce results`` grades every run again. The tests that read
many rows take minutes: ``make verify`` runs these, and ``make test`` the others.

A pull request may add a submission without a run, or runs that no maintainer has accepted yet. More is asked of the
accepted runs, and of the submissions that ``known.toml`` lists: maintainers write both.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.audits import stored_audits
from memeval.archive.conformance import latest
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.archive.signatures import signers_of
from memeval.benchmarks import find
from memeval.evaluation.verify.audit import verify_audit
from memeval.evaluation.verify.findings import Check
from memeval.evaluation.verify.many_runs import reproduced_runs
from memeval.evaluation.verify.stored_results import checks_of_results
from memeval.judging.rules import RulesJudge
from memeval.leaderboard.board import PLUMBING, RankStatus, build_board
from memeval.leaderboard.release_checks import check_results
from memeval.leaderboard.traces import Traces
from memeval.processes import cores
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Isolation, SystemKind
from memeval.systems.controls import controls_of
from memeval.systems.known import known
from memeval.systems.source import SystemSource, folder_source

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
QUICK = "beliefs@2", "judge", "quick"
RUNS = sealed_runs(RESULTS)
"""None of them is read yet: every process that runs tests imports this module, and one of them runs its tests."""


@cache
def with_entry(event: LedgerEvent) -> list[RunFolder]:
    digests = {entry.run_digest for entry in Ledger(RESULTS).entries() if entry.event is event}
    return [folder for folder in RUNS if folder.digest in digests]


def current() -> list[RunFolder]:
    """Return the accepted runs, graded by the rules, that no other run supersedes."""
    superseded = with_entry(LedgerEvent.SUPERSEDED)
    accepted = (each for each in with_entry(LedgerEvent.ACCEPTED) if each not in superseded)
    return [each for each in accepted if each.run.track.judge == RulesJudge.name]


@cache
def quick() -> list[RunFolder]:
    """Return the current runs on the track that every control runs."""
    tracks = ((each, each.run.track) for each in current())
    return [each for each, track in tracks if (track.benchmark, track.protocol, track.tier) == QUICK]


def of_each_track(runs: list[RunFolder]) -> dict[str, list[RunFolder]]:
    """Return by benchmark one run of each track: the one with the most even shares of right and wrong answers."""
    tracks: dict[str, list[RunFolder]] = {}
    for folder in runs:
        tracks.setdefault(folder.run.track_id, []).append(folder)
    chosen: dict[str, list[RunFolder]] = {}
    for same in tracks.values():
        one = min(same, key=lambda folder: abs((folder.run.scores.overall.accuracy or 0) - 0.5))
        chosen.setdefault(one.run.track.benchmark, []).append(one)
    return chosen


def _needs_key(source: SystemSource) -> bool:
    submission = source.submission
    return submission is not None and bool(submission.declared_models or submission.hosts)


def data_of(run: RunFolder) -> Path | None:
    """Return where the data of a run's benchmark is: ``None`` for its usual place. Skip the test if it is nowhere."""
    benchmark = find(run.run.track.benchmark)
    named = os.environ.get("MEMEVAL_TEST_DATA")
    for place in (None, *([Path(named)] if named else [])):
        if benchmark.available(place):
            return place
    pytest.skip(f"the data of {benchmark.info.id} is not here, nor where MEMEVAL_TEST_DATA points")


def score(slug: str, category: str, reader: str = "extractive@2") -> int:
    """Return how many items of a category a control got right."""
    (run,) = (each.run for each in quick() if each.run.system.slug == slug and each.run.track.reader == reader)
    return next(c.tally.correct for c in run.scores.categories if c.name == category)


def test_every_control_has_a_run_under_each_of_its_readers() -> None:
    controls = [run.run for run in quick() if run.run.system.kind is SystemKind.CONTROL]
    named = {(run.system.slug, run.track.reader.partition("@")[0]) for run in controls}
    have = {(slug, reader) for slug, reader in named if ":" not in reader}  # a model reads for every system
    shipped = controls_of("beliefs@2").values()
    assert have == {(control.slug, reader) for control in shipped for reader in control.readers}


def test_every_listed_system_without_a_key_has_a_run_of_its_present_files() -> None:
    sources = [folder_source(manifest.parent) for manifest in sorted((ROOT / "submissions").glob("*/submission.toml"))]
    listed = [source for source in sources if known().submissions_with(source.submission_digest)]
    free = {source.slug: source for source in listed if not _needs_key(source)}
    runs = [each.run for each in current() if each.run.track.parameters.get("label") != PLUMBING]
    assert len(free) >= 10
    for slug, source in free.items():
        have = [run for run in runs if run.system.submission_digest == source.submission_digest]
        report = latest(RESULTS, slug)
        assert have and report is not None and report.holds, slug
        assert {run.isolation for run in have} == {Isolation.SANDBOXED}
        assert report.submission_digest == source.submission_digest
        assert {run.system.environment_digest for run in have} == {report.environment_digest}


@pytest.mark.results
@pytest.mark.parametrize("name", sorted({folder.path.parents[1].name for folder in RUNS}))
def test_a_run_of_each_track_gives_the_same_bytes_when_graded_again(name: str) -> None:
    versions = of_each_track([folder for folder in RUNS if folder.path.parents[1].name == name])
    assert versions
    for runs in versions.values():
        for folder, outcome in zip(runs, reproduced_runs(runs, data_of(runs[0])), strict=True):
            assert outcome.findings == ()
            assert outcome.grades == folder.run.coverage.done


@pytest.fixture(scope="module")
def read() -> tuple[list[Check], Traces]:
    """All checks of the repository's results, and what they read."""
    traces = Traces()
    checks = checks_of_results(RESULTS, traces, cores())
    return [*checks, *check_results(RESULTS, signers_of(None), traces)], traces


@pytest.mark.results
@pytest.mark.timeout(900)  # the whole of it is read, which takes minutes on a busy machine
def test_all_of_it_verifies(read: tuple[list[Check], Traces]) -> None:
    checks, _ = read
    assert len(checks) > len(RUNS)
    assert [finding for check in checks for finding in check.findings] == []


@pytest.mark.results
@pytest.mark.timeout(900)  # the whole of it is read, which takes minutes on a busy machine
def test_every_accepted_run_is_whole_from_a_clean_checkout_and_reproduced(read: tuple[list[Check], Traces]) -> None:
    board, superseded = build_board(RUNS, Ledger(RESULTS), read[1]), with_entry(LedgerEvent.SUPERSEDED)
    rows = [row for row in board.runs if row.accepted]
    assert len(rows) == len(with_entry(LedgerEvent.ACCEPTED)) >= 41
    for row in rows:
        assert row.run.coverage.full
        if row.folder in superseded:
            assert row.standing is RankStatus.SUPERSEDED
            continue
        mock = row.run.system.mock
        usual = RankStatus.CONTROL if row.run.system.kind is SystemKind.CONTROL else RankStatus.RANKED
        if usual is RankStatus.RANKED and row.run.track.parameters.get("label") == PLUMBING:
            usual, mock = RankStatus.PLUMBING, False  # the data only tests the software
        assert row.standing is (RankStatus.MOCK if mock else usual)
        assert not row.doubtful
        assert row.run.harness.dirty is False
        assert {LedgerEvent.ACCEPTED, LedgerEvent.REPRODUCED} <= {entry.event for entry in row.entries}


AUDITS = {(folder.audit.judge, folder.audit.benchmark): folder for folder in stored_audits(RESULTS)}


def test_the_audit_of_the_rules_is_what_auditing_them_again_gives(tmp_path: Path) -> None:
    stored = AUDITS[RulesJudge.name, "beliefs@2"]
    (again,) = api.audit("rules", "beliefs@2", options=api.AuditOptions(results=tmp_path))
    assert list(verify_audit(stored)) == []
    assert list(again.probes()) == list(stored.probes())
    assert again.audit.overall == stored.audit.overall
    assert stored.audit.harness.dirty is False


def test_no_injection_gains_anything_against_the_rules() -> None:
    assert len(AUDITS) == 2
    for stored in AUDITS.values():
        attacks = {kind: line for kind, line in stored.audit.kinds.items() if kind.is_injection}
        assert len(attacks) == 3
        assert all(line.false_accepts.of == 100 and line.false_accepts.count == 0 for line in attacks.values())
    (run,) = (each.run for each in quick() if each.run.system.slug == "judge-injection")
    assert run.scores.overall.correct == 0


@pytest.mark.parametrize("category", ["belief-update", "noise-resistance", "temporal-belief"])
def test_controls_order_as_they_must_where_a_plain_answer_is_right(category: str) -> None:
    assert score("oracle", category) >= score("full-context", category)
    assert score("bm25", category) >= score("no-memory", category)


@pytest.mark.parametrize("category", ["cascade-propagation", "uncertainty-abstention"])
def test_always_hedging_gains_only_where_doubt_is_right_and_loses_its_twins(category: str) -> None:
    (run,) = (each.run for each in quick() if each.run.system.slug == "always-hedge")
    twins = {s.value: s.tally for s in run.scores.slices if s.category == category and s.slice == "twin"}
    assert twins["changed"].correct == twins["changed"].planned
    assert twins["reconfirmed"].correct == twins["unchanged"].correct == 0
    for other in ("belief-update", "noise-resistance", "temporal-belief", "context-efficiency"):
        assert score("always-hedge", other, "native") == 0
