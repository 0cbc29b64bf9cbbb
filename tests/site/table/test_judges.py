"""What readers see of judges: who gave a score, how far that judge can be trusted, what it cost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.audits import stored_audits, write_audit
from memeval.archive.runs import RunFolder
from memeval.records.audit import Audit
from memeval.records.base import digest_of
from memeval.site.pages.benchmarks import BenchmarkPages
from memeval.site.pages.runs import RunPages
from memeval.site.table.judges import judge_note, scores_by_judge
from tests.site.conftest import Built, draw
from tests.site.factory import JUDGE_PROMPTS, MODEL, SECRET, FakeBenchmark, Made, make_run
from tests.site.reading import site_of, words_of
from tests.support.audits import ENDPOINT, make_audit
from tests.support.runs import edit_head


def run_of(built: Built, started: str) -> RunFolder:
    return next(run for run in built.runs if run.run.run_id.startswith(started))


# -- beside the scores -------------------------------------------------------------------------------------------------


def test_every_page_with_a_score_names_its_judge_and_its_false_accepts(built: Built) -> None:
    rules, asked = "passes 3.1 % of wrong answers (12 of 390)", "udit: passes 7.9 % of wrong answers"
    judged = run_of(built, "20261103T10").run
    tables = "".join(file.read_text() for file in (built.out / "tracks").glob("*/index.html"))
    said = words_of(built.read("benchmarks/fake@1/index.html") + tables)
    assert f"Judge: rules@3 (offline) · Grader audit: {rules}" in said and asked in said
    assert f"{MODEL} at {ENDPOINT}" in said
    assert asked in words_of(built.read(f"runs/{judged.run_id}/index.html"))
    index = built.index_of(judged.run_id)
    assert index["judge"]["result"].startswith(f"grader a{asked}")
    assert index["judge"]["url"] == "benchmarks/fake@1/#audit-20261103T120000Z-00000003"


def test_a_judge_without_an_audit_is_said_to_have_none_and_is_shown_with_its_label(built: Built) -> None:
    page = words_of(built.read(f"runs/{run_of(built, '20261104').run.run_id}/index.html"))
    assert "openai:SmolLM2@1 plumbing at http://127.0.0.1:8000/v1 · Grader not audited yet" in page
    assert "Not ranked: smoke test" in page and "This was a smoke test" in page


OTHER: dict[str, dict[str, Any]] = {
    "benchmark": {"benchmark": "other@1"},
    "judge": {"judge": "openai:gpt-4o-2024-08-06@2"},
    "endpoint": {"judge_endpoint": "https://elsewhere.example/v1"},
    "prompts": {"prompts": JUDGE_PROMPTS | {"judge/more": digest_of("more")}},
}


@pytest.mark.parametrize("part", OTHER)
def test_an_audit_of_another_judge_says_nothing_of_this_one(tmp_path: Path, part: str) -> None:
    run = make_run(tmp_path, Made("acme", "Acme", judge=MODEL, reader="openai:reader@1"), FakeBenchmark())
    same: dict[str, Any] = {"judge": MODEL, "judge_endpoint": ENDPOINT, "prompts": JUDGE_PROMPTS}
    write_audit(tmp_path, make_audit(**same | OTHER[part]), [])
    assert judge_note(site_of(tmp_path), run.run.track).audit is None
    write_audit(tmp_path, make_audit(audit_id="20260101T000000Z-00000000", **same), [])
    assert judge_note(site_of(tmp_path), run.run.track).audit is not None, "a reader's prompt is not the judge's"


def test_the_latest_audit_counts_and_one_on_the_same_data_before_all_others(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    track = make_run(tmp_path, Made("acme", "Acme"), benchmark).run.track

    def audited(day: int, accepted: int, data: str) -> str:
        moment = f"2026-11-{day:02}T10:00:00.000+00:00"
        made: Audit = make_audit(accepted, audit_id=f"202611{day:02}T100000Z-0", started=moment, data_digest=data)
        write_audit(tmp_path, made, [])
        return judge_note(site_of(tmp_path), track).result

    assert audited(1, 1, digest_of("other")).endswith("(1 of 390), on other data of this benchmark")
    assert audited(3, 3, benchmark.dataset.digest).endswith("(3 of 390)")
    assert audited(2, 2, benchmark.dataset.digest).endswith("(3 of 390)")
    assert audited(4, 4, digest_of("other")).endswith("(3 of 390)")
    assert audited(5, 5, benchmark.dataset.digest).endswith("(5 of 390)")


# -- the benchmark's page ----------------------------------------------------------------------------------------------


def test_the_benchmark_page_shows_each_judges_errors_with_intervals_and_counts(built: Built) -> None:
    page = built.read("benchmarks/fake@1/index.html")
    said = words_of(page[page.index('id="judges"') : page.index('id="controls"')])
    assert "All 7.9 5.7–11.1, 31 of 390 3.0 1.6–5.6, 9 of 300 0.4" in said
    assert "Belief update 15.5" in said and "0.93 0.88 to 0.98" in said
    assert "Injected instruction attack on the judge 6.7 1.8–21.3, 2 of 30" in said
    assert "Correct – no such answers" in said, "a share of nothing is no zero"
    assert said.index("Correct –") < said.index("Stale (outdated) ") < said.index("Injected delimiter")
    assert "1 earlier audit of this judge" in said and "passes 10.3 % of wrong answers (40 of 390)" in said


def test_a_perfect_agreement_has_no_interval_and_says_so(tmp_path: Path) -> None:
    make_run(tmp_path / "results", Made("acme", "Acme"), FakeBenchmark())
    audit = make_audit()
    perfect = audit.overall.agreement.model_copy(update={"kappa": 1.0, "kappa_low": None, "kappa_high": None})
    overall = audit.overall.model_copy(update={"agreement": perfect})
    write_audit(tmp_path / "results", audit.model_copy(update={"overall": overall}), [])
    draw(tmp_path / "results", tmp_path / "site", BenchmarkPages(), find=lambda _name: FakeBenchmark())
    assert "1.00 no interval" in words_of((tmp_path / "site/benchmarks/fake@1/index.html").read_text())


def test_an_audits_files_can_be_fetched(built: Built) -> None:
    [stored] = [folder for folder in stored_audits(built.results) if folder.audit.judge == MODEL]
    published = built.out / "benchmarks" / "fake@1" / "audits" / stored.audit.audit_id
    names = ["audit.json", "judgments.jsonl.gz", "probes.jsonl.gz"]
    assert sorted(path.name for path in published.iterdir()) == names
    for name in names:
        assert (published / name).read_bytes() == (stored.path / name).read_bytes()


def test_the_same_answers_have_a_score_by_each_of_their_judges(built: Built) -> None:
    [(slug, scores)] = scores_by_judge(site_of(built.results), "fake@1")
    asked, ruled = run_of(built, "20261103T10").run, built.runs[0].run
    assert (slug, scores) == ("acme", {MODEL: asked.scores.composite.value, "rules@3": ruled.scores.composite.value})


def test_answers_with_equal_bytes_are_the_same_answers_and_others_are_not(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    one = make_run(tmp_path, Made("acme", "Acme"), benchmark)
    same = make_run(tmp_path, Made("acme", "Acme", judge=MODEL), benchmark)
    assert one.run.files["responses.jsonl"] == same.run.files["responses.jsonl"]
    make_run(tmp_path, Made("zeta", "Zeta", answer="another"), benchmark)
    make_run(tmp_path, Made("zeta", "Zeta", answer="quite another", judge=MODEL), benchmark)
    assert [slug for slug, _scores in scores_by_judge(site_of(tmp_path), "fake@1")] == ["acme"]


def test_judges_of_one_name_with_other_prompts_are_two(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    one = make_run(tmp_path, Made("acme", "Acme", judge=MODEL), benchmark)
    other = make_run(tmp_path, Made("acme", "Acme", judge=MODEL, started="2026-11-02T10:00:00+00:00"), benchmark)
    track = other.run.track.model_copy(update={"prompts": {"judge/belief-update": digest_of("their own")}})
    edit_head(other, track=track.data(), track_id=track.id, answers_from=one.run.run_id)
    [(_slug, scores)] = scores_by_judge(site_of(tmp_path), "fake@1")
    first, second = scores
    assert first == MODEL and second.startswith(f"{MODEL} (")


# -- the run's page ----------------------------------------------------------------------------------------------------


def test_the_run_page_splits_cost_and_time_by_phase(built: Built) -> None:
    page = words_of(built.read(f"runs/{run_of(built, '20261103T10').run.run_id}/index.html"))
    assert "Judge measured 72 420 ms 420 ms 30.2 s 72 0 0 22,320 72 $0.058 420 ms 420 ms 10 ms 10 ms" in page
    assert "Ingest 60 30 ms 30 ms 1.8 s no model calls" in page
    assert "the price list genai-prices 0.2.3 (2026-11-09)" in page
    assert f"Answers from run {built.runs[0].run.run_id}" in page
    assert f"memeval regrade {built.runs[0].run.run_id} --judge openai:gpt-4o-2024-08-06" in page


def test_the_run_page_has_no_columns_for_model_calls_that_nobody_made(built: Built) -> None:
    page = words_of(built.read(f"runs/{built.runs[0].run.run_id}/index.html"))
    assert "Phase Steps Median p95 Sum Ingest 60" in page and "No model was called through memeval." in page
    assert "Model calls" not in page and "no model calls" not in page


def test_what_was_replayed_is_marked_and_recorded_calls_are_shown_apart(built: Built) -> None:
    page = words_of(built.read(f"runs/{run_of(built, '20261104').run.run_id}/index.html"))
    assert "replayed" in page and "it is not an independent repetition" in page
    assert "0 60 0 – – $0.00 replayed: cost unknown" in page
    assert "MEMEVAL_JUDGE_BASE_URL=http://127.0.0.1:8000/v1 memeval run borealis" in page
    assert f"judge/belief-update {JUDGE_PROMPTS['judge/belief-update']}" in page
    assert f"Reader’s endpoint {ENDPOINT}" in page


def test_an_unknown_price_is_never_zero(tmp_path: Path) -> None:
    made = Made("acme", "Acme", judge="openai:SmolLM2@1", label="plumbing", endpoint="http://127.0.0.1:1/v1")
    run = make_run(tmp_path / "results", made, FakeBenchmark())
    draw(tmp_path / "results", tmp_path / "site", RunPages(), find=lambda _name: FakeBenchmark())
    page = words_of((tmp_path / "site" / "runs" / run.run.run_id / "index.html").read_text())
    assert "unknown 60 calls without a price" in page
    assert "$0.00" not in page


def test_model_calls_are_offered_as_files(built: Built) -> None:
    run = run_of(built, "20261104")
    page = built.out / "runs" / run.run.run_id
    for name in ("judgments.jsonl.gz", "calls.jsonl.gz"):
        [link] = re.findall(rf'href="([^"]+)" download="{name}"', (page / "index.html").read_text())
        assert (page / link).read_bytes() == (run.path / name).read_bytes()
    assert SECRET in json.dumps(built.shard(run.run.run_id))


def test_where_answers_are_measured_no_judge_is_named_for_the_score(built: Built) -> None:
    site, track = site_of(built.results), built.runs[0].run.track
    categories = tuple(each.model_copy(update={"grader": "locomo-f1@2"}) for each in track.categories)
    measured = track.model_copy(update={"benchmark": "locomo@1", "categories": categories})
    assert judge_note(site, track).asked
    note = judge_note(site, measured)
    assert (note.asked, note.result) == (False, "scores are measured by formula; no judge is used")
    assert note.url.endswith("#protocols")
