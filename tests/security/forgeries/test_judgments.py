"""Forgeries of a model judge: replies flipped, an endpoint renamed, judgments removed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.evaluation.verify.reask import reask
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.leaderboard.board import BoardRow, RankStatus, build_board
from memeval.leaderboard.marks import MarkName
from memeval.records.call import ModelRequest
from memeval.records.errors import BadInput
from memeval.records.ledger import GradeTrust, LedgerEvent
from tests.evaluation.asking import PickyServer, judged_run
from tests.support.forging import Forger
from tests.support.standing import made_up

MAKERS = "https://api.openai.com/v1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PickyServer, RunFolder]]:
    with judged_run(tmp_path_factory.mktemp("judged")) as made:
        yield made


@pytest.fixture
def honest(made: tuple[PickyServer, RunFolder]) -> RunFolder:
    return made[1]


def row_of(results: Path, folder: RunFolder) -> BoardRow:
    made_up(folder.run)
    (row,) = build_board([RunFolder(folder.path)], Ledger(results)).runs
    return row


def all_yes(forger: Forger) -> None:
    """Turn every reply of the judge into yes."""
    for call in forger.rows["judgments.jsonl"]:
        reply = json.loads(call["reply"])
        reply["choices"][0]["message"]["content"] = "yes"
        call["reply"] = json.dumps(reply)


def moved(forger: Forger, url: str) -> None:
    """Say that the judge was at another endpoint, without a label, and compute the keys of the requests again."""
    forger.track.update(judge_endpoint=url, judge_label=None)
    for call in forger.rows["judgments.jsonl"]:
        call["request"]["endpoint"] = url
        call["key"] = ModelRequest.model_validate_json(json.dumps(call["request"])).key


def test_flipped_replies_are_replayed_and_a_sample_finds_them(tmp_path: Path, honest: RunFolder) -> None:
    forger = Forger.of(honest, tmp_path)
    all_yes(forger)
    forger.regrade()
    forged = forger.seal()
    assert (honest.run.scores.overall.correct, forged.run.scores.overall.correct) == (28, 32)
    assert reproduce_run(forged).equal, "the grades follow from the replies"
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.REPRODUCED, forged, by="Ada", reason="graded again")
    row = row_of(tmp_path, forged)
    assert (row.trust.grades, row.standing) == (GradeTrust.REPLAYED, RankStatus.RANKED)
    sample = reask(forged, 50)
    assert (sample.agreed, sample.asked) == (28, 32)
    ledger.append(LedgerEvent.RE_ASKED, forged, by="Ada", reason="asked again", sample=sample)
    row = row_of(tmp_path, forged)
    assert [mark.name for mark in row.marks] == [MarkName.HARDLY_ANY_ERRORS]


def test_many_flipped_replies_cost_the_rank(tmp_path: Path, made: tuple[PickyServer, RunFolder]) -> None:
    server, honest = made
    forger = Forger.of(honest, tmp_path)
    all_yes(forger)
    forger.regrade()
    forged = forger.seal()
    server.answer = lambda body: "no" if "Lima" in str(body) or "Oslo" in str(body) else "yes"
    sample = reask(forged, 50)
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.RE_ASKED, forged, by="Ada", reason="asked again", sample=sample)
    row = row_of(tmp_path, forged)
    assert MarkName.JUDGE_DISAGREES in [mark.name for mark in row.marks]
    assert (row.standing, row.trust.grades) == (RankStatus.UNREVIEWED, GradeTrust.CLAIMED)
    assert f"A maintainer asked the judge again: {sample.agreed} of 32 verdicts are equal." in row.marks[0].sentence
    ledger.append(LedgerEvent.REVIEWED, forged, by="Ada", reason="the judge's model was replaced")
    assert row_of(tmp_path, forged).standing is RankStatus.RANKED


def test_a_judge_that_agrees_makes_the_grades_re_asked(tmp_path: Path, honest: RunFolder) -> None:
    from memeval.records.ledger import Sample

    Ledger(tmp_path).append(
        LedgerEvent.RE_ASKED, honest, by="Ada", reason="asked again", sample=Sample(asked=32, agreed=32)
    )
    assert row_of(tmp_path, honest).trust.grades is GradeTrust.RE_ASKED


def test_an_endpoint_renamed_to_the_makers_is_the_runners_word_until_it_is_asked(
    tmp_path: Path, honest: RunFolder
) -> None:
    forger = Forger.of(honest, tmp_path)
    moved(forger, MAKERS)
    forger.regrade()
    forged = forger.seal()
    assert reproduce_run(forged).equal
    row = row_of(tmp_path, forged)
    assert (row.standing, row.trust.grades) == (RankStatus.RANKED, GradeTrust.CLAIMED)
    with pytest.raises(BadInput, match=f"the judge of run {forged.run.run_id} was at {MAKERS}"):
        reask(forged)


def test_the_named_endpoint_is_asked_and_disagrees(
    tmp_path: Path, honest: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PickyServer(answer=lambda _body: "no") as makers:
        forger = Forger.of(honest, tmp_path)
        moved(forger, makers.url)
        forger.regrade()
        monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", makers.url)
        assert reask(forger.seal()).agreed == 4, "only the verdicts that were no"


def test_a_missing_judgment_is_found_by_reproduce(tmp_path: Path, honest: RunFolder) -> None:
    forger = Forger.of(honest, tmp_path)
    del forger.rows["judgments.jsonl"][3]
    found = reproduce_run(forger.seal())
    assert "is not in the record" in found.findings[0].problem
