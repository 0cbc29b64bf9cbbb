"""Trust follows from a run's files and the ledger, and from nothing that anyone types in."""

from itertools import chain, combinations, product
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.trust import Trust, holds, last_samples, trust_of
from memeval.records.ledger import AnswerTrust, GradeTrust, LedgerEntry, LedgerEvent, Runner, Sample
from memeval.records.run import Isolation, SystemKind
from tests.support.runs import edit_head, make_run, make_track

DEEDS = (
    (LedgerEvent.ACCEPTED, Runner.SUBMITTER),
    (LedgerEvent.ACCEPTED, Runner.MAINTAINER),
    (LedgerEvent.ACCEPTED, None),
    (LedgerEvent.REPRODUCED, None),
    (LedgerEvent.REPRODUCED, Runner.MAINTAINER),
    (LedgerEvent.REPEATED, None),
    (LedgerEvent.SUPERSEDED, None),
    (LedgerEvent.INVALIDATED, None),
)
Said = tuple[tuple[LedgerEvent, Runner | None], ...]
ALL = tuple(chain.from_iterable(combinations(DEEDS, size) for size in range(len(DEEDS) + 1)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[SystemKind, RunFolder]:
    results = tmp_path_factory.mktemp("results")
    return {kind: make_run(results, f"a-{kind}", kind=kind, isolation=Isolation.SANDBOXED) for kind in SystemKind}


def entries(folder: RunFolder, said: Said, run_id: str | None = None) -> list[LedgerEntry]:
    return [
        LedgerEntry(
            event=event,
            run_id=run_id or folder.run.run_id,
            run_digest=folder.digest,
            at="2026-11-02T10:00:00+00:00",
            by="Ada",
            reason="because",
            runner=runner,
            previous=None,
        )
        for event, runner in said
    ]


CLAIMED, RECOMPUTED = GradeTrust.CLAIMED, GradeTrust.RECOMPUTED
UNCONFIRMED = Trust(CLAIMED, AnswerTrust.SELF_RUN)


APART = {SystemKind.CONTROL: AnswerTrust.CONTROL, SystemKind.IMPORTED: AnswerTrust.IMPORTED}
"""Kinds whose answers are what they are, whatever is said of them."""


def answers_by(said: Said) -> AnswerTrust:
    if (LedgerEvent.REPEATED, None) in said:
        return AnswerTrust.REPEATED
    by_maintainer = (LedgerEvent.ACCEPTED, Runner.MAINTAINER) in said
    return AnswerTrust.MAINTAINER_RUN if by_maintainer else AnswerTrust.SELF_RUN


def test_each_axis_rests_on_its_own_deeds(runs: dict[SystemKind, RunFolder]) -> None:
    for said, (kind, folder) in product(ALL, runs.items()):
        is_reproduced = any(event is LedgerEvent.REPRODUCED for event, _runner in said)
        wanted = Trust(RECOMPUTED if is_reproduced else CLAIMED, APART.get(kind, answers_by(said)))
        assert trust_of(folder, entries(folder, said)) == wanted, said
        assert trust_of(folder, entries(folder, said)[::-1]) == wanted, "the order of entries does not matter"


def test_of_two_drawn_samples_the_later_one_counts(runs: dict[SystemKind, RunFolder]) -> None:
    entry = entries(runs[SystemKind.SUBMISSION], ((LedgerEvent.RE_ASKED, None),))[0]
    good, bad = (entry.model_copy(update={"sample": Sample(asked=100, agreed=agreed)}) for agreed in (99, 10))
    assert holds(last_samples([bad, good])[LedgerEvent.RE_ASKED])
    assert not holds(last_samples([good, bad])[LedgerEvent.RE_ASKED])


@pytest.mark.parametrize("behind", ["judge", "reader"])
def test_grades_from_recorded_replies_of_a_model_are_replayed_never_recomputed(tmp_path: Path, behind: str) -> None:
    url = "https://api.openai.com/v1"
    if behind == "reader":
        track = make_track(reader="openai:gpt-4o@1", reader_endpoint=url)
    else:
        track = make_track(judge="openai:gpt-4o@1", judge_endpoint=url)
    folder = make_run(tmp_path, "acme", track=track)
    if behind == "judge":
        files = folder.run.data()["files"]
        folder = edit_head(folder, files=files | {"judgments.jsonl": files["grades.jsonl"]})
    assert trust_of(folder, ()).grades is CLAIMED
    assert trust_of(folder, entries(folder, ((LedgerEvent.REPRODUCED, None),))).grades is GradeTrust.REPLAYED


def test_a_track_with_a_judge_that_no_grader_asks_is_recomputed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", track=make_track(judge_endpoint="https://api.openai.com/v1"))
    assert trust_of(folder, entries(folder, ((LedgerEvent.REPRODUCED, None),))).grades is RECOMPUTED


@pytest.mark.parametrize(
    ("agreed", "asked", "held"), [(50, 50, True), (45, 50, True), (44, 50, False), (27, 32, False)]
)
def test_a_sample_holds_while_it_allows_95_percent(agreed: int, asked: int, held: bool) -> None:
    assert holds(Sample(asked=asked, agreed=agreed)) is held


def test_what_is_said_of_another_run_does_not_rub_off(runs: dict[SystemKind, RunFolder]) -> None:
    folder = runs[SystemKind.SUBMISSION]
    for of, run_id in ((folder, "20261101T100000-00000000"), (runs[SystemKind.FILE], folder.run.run_id)):
        assert trust_of(folder, entries(of, DEEDS, run_id)) == UNCONFIRMED


def test_an_edited_head_voids_all_that_was_said_of_it(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", isolation=Isolation.SANDBOXED)
    said = entries(folder, DEEDS)
    assert trust_of(folder, said) == Trust(RECOMPUTED, AnswerTrust.REPEATED)
    edited = edit_head(folder, cost={"usd": 0.0, "reason": "edited"})
    assert trust_of(edited, said) == UNCONFIRMED


def test_spaces_added_to_a_head_are_an_edit(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", isolation=Isolation.SANDBOXED)
    said = entries(folder, DEEDS)
    (folder.path / "run.json").write_bytes(folder.head_bytes + b"\n")
    edited = RunFolder(folder.path)
    assert edited.run == folder.run
    assert trust_of(edited, said) == UNCONFIRMED


def test_a_system_that_reaches_files_is_never_repeated(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", isolation=Isolation.FILES_REACHABLE)
    said = entries(folder, ((LedgerEvent.ACCEPTED, Runner.MAINTAINER), (LedgerEvent.REPEATED, None)))
    assert trust_of(folder, said).answers is AnswerTrust.MAINTAINER_RUN
