"""Runs on a benchmark whose text is withheld: it is not stored, and the data restores it."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memeval.archive.audits import JUDGMENTS, PROBES, stored_audits
from memeval.archive.runs import RunFolder
from memeval.benchmarks import session
from memeval.benchmarks.session import BenchmarkSession
from memeval.cli.trust import verify
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.run.estimate import estimate_run
from memeval.evaluation.run.models import RECORD, ModelOptions
from memeval.evaluation.run.regrade import regrade_run
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.audit import audit_judge, verify_audit
from memeval.evaluation.verify.checks import subject
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.judging.calibration import trials
from memeval.options import AuditOptions
from memeval.records.base import digest_bytes
from memeval.records.call import Caller
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.track import Redistribution
from memeval.systems.source import SystemSource, file_source
from tests.evaluation.asking import (
    PickyServer,
    asking_system,
    by_rules,
    fair,
    holds,
    judge,
    options,
    regrading,
    rows_of,
    said_to,
    searching_system,
)
from tests.evaluation.verify.by_hand import edit_rows
from tests.support.adapters import plain_adapter
from tests.support.tiny import CITIES, TinyBenchmark

PARROT = '''
import sys

class Parrot:
    """Repeats everything that it ingested in every field and output."""

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
        print("taking in:", *self.told, flush=True)

    def query(self, question, timestamp="now"):
        print(question, self.told, file=sys.stderr, flush=True)
        if "Oslo" in self.told[0]:
            {on_oslo}
        items = [{{"text": text, "source_ids": ["s001", "as in: " + text], "score": 1.0}} for text in self.told]
        items.append({{"text": "Notes - " + self.told[0].upper() + " " + self.told[2].replace(" ", "_")}})
        context = "\\n".join(["What is known:", *self.told, "that is: " + " and ".join(self.told)])
        return {{"answer": self.told[0][10:] + " That is what I was told.", "items": items, "context": context}}
'''


def benchmark() -> TinyBenchmark:
    return TinyBenchmark(4, redistribution=Redistribution.IDS)


def benchmark_session() -> BenchmarkSession:
    return BenchmarkSession.open(benchmark())


@pytest.fixture(autouse=True)
def private(server: PickyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (session, subject):
        monkeypatch.setattr(module, "find", lambda _name: benchmark())


def parrot(folder: Path, on_oslo: str = 'raise RuntimeError("found nothing but: " + self.told[0])') -> SystemSource:
    path = folder / "parrot.py"
    path.write_text(PARROT.format(on_oslo=on_oslo), encoding="utf-8")
    return file_source(path)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def stretches(sat: BenchmarkSession | None = None) -> set[tuple[str, ...]]:
    """Return every sequence of three words in the turns, questions and keys of a benchmark; ``None``: the tiny one."""
    sat = sat or benchmark_session()
    texts = [turn.content for one in sat.scenarios.values() for s in one.sessions() for turn in s.turns]
    texts += [ask.question for one in sat.scenarios.values() for ask in one.questions()]
    texts += [text for key in sat.keys for text in key.key.references]
    return {tuple(words(text)[at : at + 3]) for text in texts for at in range(len(words(text)) - 2)}


def told_by(results: Path, sat: BenchmarkSession | None = None) -> Iterator[str]:
    """Yield a benchmark's text in the files of a folder, except the local record of calls; see :func:`stretches`."""
    known = stretches(sat)
    for path in sorted(results.rglob("*")):
        if not path.is_file() or RECORD.parent.name in path.parts:
            continue
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        yield from (f"{path.name}: {city}" for city in CITIES[:4] if city in text)
        for part in re.split("⟦[^⟧]*⟧", text):
            said = words(part)
            yield from (
                f"{path.name}: {said[at : at + 3]}" for at in range(len(said)) if tuple(said[at : at + 3]) in known
            )


def ruled(folder: Path) -> RunFolder:
    """Return a run of the parrot that is judged by rules."""
    return run_system(parrot(folder), benchmark_session(), by_rules(folder))


def modelled(folder: Path) -> RunFolder:
    return run_system(parrot(folder), benchmark_session(), options(folder))


def verdicts(run: RunFolder) -> list[bool | None]:
    return [grade.verdict for grade in run.grades()]


def test_a_rule_judged_run_stores_no_benchmark_text(tmp_path: Path) -> None:
    run = ruled(tmp_path)
    assert list(told_by(tmp_path / "results")) == []
    assert verdicts(run) == [True, None, True, True]
    assert holds(run)


PRINTS_WORDS = "import json; print(json.dumps(session['turns'][0]['content'].split()), flush=True)"

SAYS_WORDS = """import json
        said, names = self.told[0].split(), {}
        for word in reversed(said):
            names = {word: names}
        return {"answer": json.dumps(said), "items": [{"text": json.dumps(names), "source_ids": said}]}"""
"""Says what it was told word by word, so that no text by itself has three words of it in a row."""


def test_benchmark_text_printed_word_by_word_is_withheld(tmp_path: Path) -> None:
    path = plain_adapter(tmp_path, on_ingest=PRINTS_WORDS, on_query=SAYS_WORDS)
    run = run_system(file_source(path), benchmark_session(), by_rules(tmp_path))
    assert list(told_by(tmp_path / "results")) == []
    first = next(decoded_run(run, benchmark_session()).responses())
    assert first.answer == '["I", "have", "moved", "to", "Lima", "for", "good."]'
    assert holds(run)


def test_its_rows_are_restored_with_the_data(tmp_path: Path) -> None:
    run = ruled(tmp_path)
    stored, full = list(run.responses()), list(decoded_run(run, benchmark_session()).responses())
    assert full[0].answer == "ed to Lima for good. That is what I was told."
    assert full[1].outcome is Outcome.ADAPTER_ERROR
    assert "found nothing but: I have moved to Oslo for good (parrot.py:17 in query)." in str(full[1].error)
    assert [item.turn_id for item in full[0].items or ()][:3] == ["s001:t01", "s001:t02", "s002:t01"]
    assert (full[0].items or ())[0].source_ids == ("s001", "as in: I have moved to Lima for good.")
    assert (full[0].items or ())[
        4
    ].text == "Notes - I HAVE MOVED TO LIMA FOR GOOD. The_weather_is_fine_and_the_soup_was_hot."
    assert "⟦s001:t01 " in stored[0].answer
    (printed, *_) = (row["detail"] for row in rows_of(run, "log.jsonl") if row["event"] == "printed")
    assert "⟦@tiny-00" in printed


def test_a_run_of_a_benchmark_that_may_be_published_is_stored_as_it_is(tmp_path: Path) -> None:
    sat = BenchmarkSession.open(TinyBenchmark(4))
    run = run_system(parrot(tmp_path), sat, by_rules(tmp_path))
    assert decoded_run(run, sat) is run
    assert "Lima" in next(run.responses()).answer
    assert any(told_by(tmp_path / "results"))


def test_a_model_judged_run_stores_no_benchmark_text_and_no_judge_request(tmp_path: Path, server: PickyServer) -> None:
    run = modelled(tmp_path)
    assert list(told_by(tmp_path / "results")) == []
    assert verdicts(run) == [True, None, True, True]
    assert {json.dumps(row["request"]["body"]) for row in rows_of(run, "judgments.jsonl")} == {
        '{"model": "gpt-4o-2024-08-06"}'
    }
    for call in decoded_run(run, benchmark_session()).judgments():
        assert call.key == call.request.key
        assert "Which city has Ada moved to?" in str(call.request.body)
    assert holds(run)
    assert "Lima" in (tmp_path / "results" / RECORD).read_text(), "the local record serves later runs"


def test_verify_says_what_needs_the_data(
    tmp_path: Path, server: PickyServer, capsys: pytest.CaptureFixture[str]
) -> None:
    by_rule = ruled(tmp_path)
    verify([str(by_rule.path)], results=tmp_path / "results")
    no_source = "system       not checked in 1 run: source not here"
    assert [line for line in capsys.readouterr().out.splitlines() if "not checked" in line] == [no_source]
    judged = modelled(tmp_path)
    verify([str(judged.path), str(by_rule.path)], results=tmp_path / "results")
    lines = capsys.readouterr().out.splitlines()
    reason = "the requests are withheld; memeval reproduce checks them with the data"
    assert lines[6:8] == ["judgments    ok: 1 run", f"             not checked in 1 run: {reason}"]


def test_a_judges_words_are_kept_out_and_its_verdict_is_not(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: (
        f"{fair(body)}" if "Lima" not in said_to(body) else "Yes – for I have moved to Lima too."
    )
    run = modelled(tmp_path)
    assert list(told_by(tmp_path / "results")) == []
    assert verdicts(run) == [True, None, True, True]
    assert holds(run)


def test_calls_of_readers_and_systems_hold_none_of_the_words(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else said_to(body)[:3000]
    read = run_system(searching_system(tmp_path), benchmark_session(), options(tmp_path, reader="openai:gpt-4o-mini"))
    asked = run_system(asking_system(tmp_path), benchmark_session(), options(tmp_path))
    assert list(told_by(tmp_path / "results")) == []
    for run, caller in ((read, Caller.READER), (asked, Caller.SYSTEM)):
        calls = [call for call in decoded_run(run, benchmark_session()).calls() if call.caller is caller]
        assert len(calls) == 4
        assert all("I have moved to" in str(call.request.body) for call in calls)
        assert holds(run)


def test_another_judge_grades_the_same_bytes(tmp_path: Path, server: PickyServer) -> None:
    run = ruled(tmp_path)
    again = regrade_run(run, judge(), regrading(tmp_path))
    back = regrade_run(again, choose_judge("rules"), regrading(tmp_path))
    for name in ("responses.jsonl", "contexts.jsonl"):
        assert again.file(name).read_bytes() == back.file(name).read_bytes() == run.file(name).read_bytes()
    assert rows_of(back, "grades.jsonl") == rows_of(run, "grades.jsonl")
    assert list(told_by(tmp_path / "results")) == []
    assert holds(again)
    assert holds(back)


def test_recorded_judgments_are_found_again_without_the_local_record(tmp_path: Path, server: PickyServer) -> None:
    run = modelled(tmp_path)
    (tmp_path / "results" / RECORD).unlink()
    asked = server.requests
    again = regrade_run(run, judge(), regrading(tmp_path / "elsewhere", fresh=True))
    assert server.requests == asked
    assert rows_of(again, "judgments.jsonl") == rows_of(run, "judgments.jsonl")


def test_failed_items_are_tried_again_beside_what_was_stored(tmp_path: Path, server: PickyServer) -> None:
    flag = tmp_path / "mended"
    source = parrot(
        tmp_path, f"import os\n            if not os.path.exists({str(flag)!r}): raise ValueError(self.told[0])"
    )
    first = run_system(source, benchmark_session(), options(tmp_path))
    flag.touch()
    again = run_system(source, benchmark_session(), options(tmp_path, retry_errors=True))
    full = list(decoded_run(again, benchmark_session()).responses())
    assert [(row.attempt, row.outcome) for row in full if row.item_id == "tiny-001-q01"] == [
        (1, Outcome.ADAPTER_ERROR),
        (2, Outcome.OK),
    ]
    assert [row.to_json() for row in full if row.attempt == 1] == [
        row.to_json() for row in decoded_run(first, benchmark_session()).responses()
    ]
    assert verdicts(again) == [True, True, True, True]
    assert list(told_by(tmp_path / "results")) == []
    assert holds(again)


@pytest.mark.parametrize("make", [searching_system, asking_system])
def test_a_run_is_replayed_from_its_files(
    tmp_path: Path, server: PickyServer, make: Callable[[Path], SystemSource]
) -> None:
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else said_to(body)[:3000]
    chosen = {"reader": "openai:gpt-4o-mini"} if make is searching_system else {}
    run = run_system(make(tmp_path), benchmark_session(), options(tmp_path, **chosen))
    (tmp_path / "results" / RECORD).unlink()
    asked = server.requests
    replay = options(tmp_path, judge=None, judge_label=None, models=ModelOptions(replay=run))
    again = run_system(make(tmp_path), benchmark_session(), replay)
    assert server.requests == asked
    assert again.run.replayed
    assert rows_of(again, "grades.jsonl") == rows_of(run, "grades.jsonl")
    assert list(told_by(tmp_path / "results")) == []
    assert holds(again)


def test_an_estimate_knows_what_is_on_record(tmp_path: Path, server: PickyServer) -> None:
    source = parrot(tmp_path)
    run_system(source, benchmark_session(), options(tmp_path))
    (part,) = estimate_run(source, benchmark_session(), options(tmp_path)).parts
    assert (part.calls, part.recorded) == (4, 3), "the failed answer was never judged"


@pytest.mark.parametrize("named", ["rules", "openai:gpt-4o"])
def test_an_audit_has_no_words_and_is_verified_without_them(tmp_path: Path, server: PickyServer, named: str) -> None:
    chosen = choose_judge("rules") if named == "rules" else judge(named)
    made = audit_judge(chosen, benchmark_session(), AuditOptions(results=tmp_path / "results", items=2))
    assert list(told_by(tmp_path / "results")) == []
    assert verify_audit(made) == []
    assert (
        audit_judge(chosen, benchmark_session(), AuditOptions(results=tmp_path / "results", items=2)).path == made.path
    )
    (stored,) = stored_audits(tmp_path / "results")
    probes = trials(benchmark_session().keys, benchmark_session().scenarios, 2)
    assert [probe.answer for probe in stored.probes()] == [digest_bytes(trial.case.answer.encode()) for trial in probes]
    if chosen.model is not None:
        asked = {chosen.model.request(trial.case).key for trial in probes}
        assert {call.key for call in stored.judgments()} == asked
    assert set(made.audit.files) == ({PROBES} if chosen.model is None else {PROBES, JUDGMENTS})


def test_other_data_do_not_open_a_run(tmp_path: Path) -> None:
    run = ruled(tmp_path)
    other = BenchmarkSession.open(TinyBenchmark(3, redistribution=Redistribution.IDS))
    with pytest.raises(BadInput, match="used data sha256:"):
        decoded_run(run, other)


@pytest.mark.parametrize(
    "mark", ["⟦s009:t01⟧", "⟦s001:t01 5-4000⟧", "⟦s001:t01 7-7⟧", "⟦@tiny-000 s001:t01⟧", "⟦\x00⟧"]
)
def test_a_mark_without_text_is_reported_with_file_and_line(tmp_path: Path, mark: str) -> None:
    run = ruled(tmp_path)

    edit_rows(run.path / "run.json", "responses.jsonl", lambda rows: rows[0].update(answer=mark), forge=True)
    with pytest.raises(BadInput, match="refers to nothing in scenario tiny-000") as refused:
        list(decoded_run(RunFolder(run.path), benchmark_session()).responses())
    assert refused.value.where == f"{run.file('responses.jsonl')}:1"


def test_a_judgment_that_follows_from_no_answer_is_found_by_reproducing(tmp_path: Path, server: PickyServer) -> None:
    run = modelled(tmp_path)

    added = {"key": "sha256:" + "f" * 64}
    edit_rows(run.path / "run.json", "judgments.jsonl", lambda rows: [*rows, rows[-1] | added], forge=True)
    found = [finding.problem for finding in reproduce_run(RunFolder(run.path)).findings]
    assert found == ["has a key that does not match its request."]


def test_an_answer_that_was_edited_is_found_by_reproducing(tmp_path: Path, server: PickyServer) -> None:
    run = modelled(tmp_path)

    edit_rows(run.path / "run.json", "responses.jsonl", lambda rows: rows[0].update(answer="⟦s002:t01⟧"), forge=True)
    (finding,) = reproduce_run(RunFolder(run.path)).findings
    assert "the judgment of tiny-000-q01" in finding.problem
