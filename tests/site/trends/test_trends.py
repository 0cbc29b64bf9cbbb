"""The page of trends, and the panel on the page of a system."""

import html
import random
import re
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import frozen, keep
from memeval.leaderboard.trend_measures import RANK
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Isolation, SystemKind, View
from memeval.site.model.content import read_site
from memeval.site.model.files import Asset, Page
from memeval.site.model.text import visible
from memeval.site.pages.systems import SystemPages
from memeval.site.pages.trends import DOWNLOAD, TrendsPage
from memeval.site.trends.trend_charts import trend_view
from memeval.site.trends.trend_groups import trends_of
from tests.site.factory import HOSTILE
from tests.support.runs import edit_head, make_run, make_track


def started(day: int) -> str:
    return f"2026-01-{day:02}T10:00:00.000+00:00"


def unknown(name: str) -> None:
    raise BadInput(f"unknown benchmark {name}")


def body(results: Path, publisher: type[TrendsPage | SystemPages] = TrendsPage, url: str = "trends/") -> str:
    site = read_site(results, find=unknown)  # type: ignore[arg-type]
    [page] = [made for made in publisher().publish(site) if isinstance(made, Page) and made.url == url]
    return str(page.body)


def text(markup: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", markup)))


def runs(results: Path, slug: str, scores: list[int], *, judge: str = "rules@3", first: int = 1) -> list[RunFolder]:
    return [
        make_run(
            results, slug, {"kept": score}, started=started(day), version=f"1.{day}", track=make_track(judge=judge)
        )
        for day, score in enumerate(scores, start=first)
    ]


def test_a_board_without_a_second_run_says_when_a_chart_appears(tmp_path: Path) -> None:
    make_run(tmp_path, "acme")
    make_run(tmp_path, "borealis")
    said = text(body(tmp_path))
    assert "No system has two runs yet." in said
    assert "1 other table with one run of each system. A second run" in said


def test_tables_without_a_line_are_counted_once_each_whatever_sessions_their_controls_receive(tmp_path: Path) -> None:
    make_run(tmp_path, "acme")
    make_run(tmp_path, "oracle", kind=SystemKind.CONTROL, view=View.EVIDENCE)
    make_run(tmp_path, "acme", track=make_track(judge="openai:gpt-4o"))
    assert "2 other tables with one run of each system. A second run" in text(body(tmp_path))
    runs(tmp_path, "borealis", [20, 40], first=3)
    assert "1 other table with one run of each system. A second run" in text(body(tmp_path))


def test_an_empty_board_has_a_page(tmp_path: Path) -> None:
    assert "No system has two runs yet." in text(body(tmp_path))


def test_a_chart_and_its_table_have_the_systems_with_two_runs_and_every_measure(tmp_path: Path) -> None:
    runs(tmp_path, "acme", [30])
    runs(tmp_path, "borealis", [20, 40])
    make_run(tmp_path, "bm25", {"kept": 10}, kind=SystemKind.CONTROL)
    page = body(tmp_path)
    [legend] = re.findall(r'<ul class="mv-trend-legend".*?</ul>', page, re.DOTALL)
    assert text(legend).split() == ["Borealis"], "one run is no line"
    table = page[page.index("Table of all values") :]
    assert "Borealis" in table and "Acme" not in table and "Bm25" not in table
    for measure in ("Kept", "Changed", "Tokens per question", "Answer latency (median)", "Answer latency (p95)"):
        assert f'<th scope="col">{measure}' in table


@pytest.mark.parametrize(("versions", "is_said"), [(("1.0", "1.0"), True), (("1.0", "1.1"), False)])
def test_a_board_of_one_version_each_says_that_lines_show_no_progress(
    tmp_path: Path, versions: tuple[str, str], is_said: bool
) -> None:
    for day, version in enumerate(versions, start=1):
        make_run(tmp_path, "acme", {"kept": 30 + day}, started=started(day), version=version)
    assert (
        "No system has run in two versions with the same settings yet. The lines below" in text(body(tmp_path))
    ) is is_said


def test_a_break_has_its_reason_in_the_table(tmp_path: Path) -> None:
    runs(tmp_path, "acme", [30, 31])
    make_run(tmp_path, "acme", {"kept": 10}, started=started(3), isolation=Isolation.SANDBOXED)
    assert "Isolation changed from not sandboxed to sandboxed." in text(body(tmp_path))


def test_another_track_is_another_chart(tmp_path: Path) -> None:
    runs(tmp_path, "acme", [30, 31])
    runs(tmp_path, "acme", [10, 11], judge="rules@4", first=3)
    groups = trends_of(read_site(tmp_path, find=unknown)).groups  # type: ignore[arg-type]
    assert [{run.track.judge for each in group.trends for run in each.series.runs} for group in groups] in (
        [{"rules@3"}, {"rules@4"}],
        [{"rules@4"}, {"rules@3"}],
    )


def test_few_runs_have_paired_tests_and_many_have_steps(tmp_path: Path) -> None:
    dice = random.Random(2)
    runs(tmp_path, "acme", [45, 10])
    said = text(body(tmp_path))
    assert "Steps are searched for from 8 runs with the same settings. The longest line here has 2." in said
    assert re.search(r"Acme 2026-01-01 10:00 UTC 2026-01-02 10:00 UTC −35\.0 −\S+ to −\S+ 0\.\d{3} worse", said)
    runs(tmp_path, "acme", [45 + dice.choice((-1, 0, 1)) for _ in range(6)], first=3)
    runs(tmp_path, "acme", [20 + dice.choice((-1, 0, 1)) for _ in range(6)], first=9)
    said = text(body(tmp_path))
    assert re.search(r"Acme : step on 2026-01-09, version 1\.9 \. The mean changed from \d+\.\d % to 20\.\d % ", said)
    assert "Change from run to run" not in said
    assert "worse" not in said


def test_no_step_is_said_where_enough_runs_show_none(tmp_path: Path) -> None:
    runs(tmp_path, "acme", [30] * 8)
    assert "No lasting step was found." in text(body(tmp_path))


def test_releases_of_one_day_stand_beside_each_other(tmp_path: Path) -> None:
    folders = runs(tmp_path, "acme", [30, 31]) + runs(tmp_path, "borealis", [40])
    for version, known in (("2026.2", 2), ("2026.10", 3)):
        release, _new = frozen(build_board(folders[:known], Ledger(tmp_path)), tmp_path, version, "0.1.0")
        keep(release, tmp_path)
    [group] = trends_of(read_site(tmp_path, find=unknown)).groups  # type: ignore[arg-type]
    ranks = [each for each in group.trends if each.trend.measure.name == RANK]
    view = trend_view("", ranks, [each.series.system for each in ranks])
    assert view is not None
    assert [label for _place, label in view.chart.x.ticks] == ["2026.2", "2026.10"]
    acme = view.chart.lines[view.names.index("acme")]
    assert [(point.x, point.y) for point in acme.points] == [(0.0, 1.0), (1.0, 2.0)]


def test_unknown_dollars_are_a_dash_in_the_table(tmp_path: Path) -> None:
    for run in runs(tmp_path, "acme", [30, 31]):
        edit_head(run, cost={"usd": None, "reason": "no price is known"})
    page = body(tmp_path)
    assert '<td class="mv-num">–</td>' in page


def test_a_superseded_run_is_hollow_and_a_withdrawn_one_is_counted(tmp_path: Path) -> None:
    old, _kept, bad = runs(tmp_path, "acme", [30, 31, 32])
    [new] = runs(tmp_path, "acme", [10], judge="rules@4", first=4)
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.SUPERSEDED, old, by="m", reason="A new judge.", other=new)
    ledger.append(LedgerEvent.INVALIDATED, bad, by="m", reason="Leaked.")
    page = body(tmp_path)
    assert "mv-hollow" in page
    assert "Not shown: 1 run invalidated." in text(page)


def test_hostile_names_and_versions_are_text(tmp_path: Path) -> None:
    for day in (1, 2):
        run = make_run(tmp_path, "acme", {"kept": day}, started=started(day), version=f"{visible(HOSTILE)}{day}")
        edit_head(run, system=run.run.system.data() | {"name": visible(HOSTILE)})
    page = body(tmp_path)
    assert "<script" not in page
    assert "onerror" not in re.sub(r"&lt;.*?&gt;", "", page)


def test_the_download_has_every_measure_of_every_run(tmp_path: Path) -> None:
    runs(tmp_path, "acme", [30, 31])
    site = read_site(tmp_path, find=unknown)  # type: ignore[arg-type]
    [made] = [each for each in TrendsPage().publish(site) if isinstance(each, Asset) and each.path == DOWNLOAD]
    assert isinstance(made.content, bytes)
    lines = made.content.decode().splitlines()
    assert lines[0].startswith("benchmark,system,measure,unit,at,version,value")
    assert sum(",composite," in line for line in lines) == sum(",category_kept," in line for line in lines) == 2
