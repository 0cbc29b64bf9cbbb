"""The small pure functions the pages stand on."""

import base64
import hashlib
import json
from pathlib import Path

import pytest
import vl_convert

from memeval.leaderboard.trends import Unit
from memeval.records.errors import BadInput
from memeval.site.charts import charts
from memeval.site.frame import building, csp, not_found
from memeval.site.model import files, labels, text, urls
from memeval.site.pages.publisher import publishers
from memeval.site.pages.rendering import environment
from memeval.site.trends import version_charts


@pytest.mark.parametrize(
    ("page", "target", "expected"),
    [
        ("", "", "./"),
        ("", "systems/acme/", "systems/acme/"),
        ("systems/acme/", "", "../../"),
        ("systems/acme/", "runs/x/", "../../runs/x/"),
        ("systems/acme/", "systems/acme/", "./"),
        ("runs/x/", "items/?run=x#q=a%2Fb", "../../items/?run=x#q=a%2Fb"),
        ("tracks/", "#track-1", "../#track-1"),
        ("", "downloads/a b.csv", "downloads/a%20b.csv"),
    ],
)
def test_addresses_are_relative_to_the_page(page: str, target: str, expected: str) -> None:
    assert urls.relative(page, target) == expected


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "http:"),
        *("ftp://a.example", " http://a.example", "http://[", None, ""),
    ],
)
def test_only_web_addresses_are_linked(address: str | None) -> None:
    assert urls.outside(address) is None
    assert urls.outside("https://example.org/a?b#c") == "https://example.org/a?b#c"


@pytest.mark.parametrize(
    ("repository", "form"),
    [
        (None, None),
        ("https://github.com/o/r", "https://github.com/o/r/issues/new"),
        ("https://git.example/o/r/", "https://git.example/o/r/issues/new"),
        ("https://gitlab.example/g/o/r", "https://gitlab.example/g/o/r/-/issues/new"),
    ],
)
def test_a_new_issue_is_filed_where_the_repository_is(repository: str | None, form: str | None) -> None:
    assert urls.issue_form(repository) == form


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "a" * 200, "a\x00", "<b>", "ü"])
def test_a_name_that_is_no_safe_segment_becomes_digits(name: str) -> None:
    assert urls.segment(name).startswith("x") and len(urls.segment(name)) == 25


def test_unknown_numbers_are_dashes() -> None:
    assert {f(None) for f in (text.percent, text.count, text.seconds, text.dollars, text.signed_percent)} == {
        text.ABSENT
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((0.00002, "20 µs"), (0.00099996, "1 ms"), (0.0213, "21.3 ms"), (0.9996, "1 s"), (1.5, "1.5 s")),
        *((600.0, "10 min"), (9000.0, "2.5 h")),
    ],
)
def test_durations_have_the_unit_a_reader_expects(value: float, expected: str) -> None:
    assert text.seconds(value) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (text.dollars(0.00005), "$0.00005"),
        (text.dollars(0.996), "$1.00"),
        (version_charts.written(1234.5, Unit.TIMES), "1,230 ×"),
        (text.percent(-0.0001), "0.0"),
        (text.number(-0.001), "0.00"),
    ],
)
def test_numbers_have_no_power_of_ten_and_zero_no_sign(written: str, expected: str) -> None:
    assert written == expected


def test_control_characters_are_made_visible() -> None:
    assert text.visible("a\x00b\x1b[0m\ud800") == "a␀b␛[0m\ufffd"


def test_characters_that_turn_a_text_around_reach_neither_a_page_nor_its_data() -> None:
    turned = "".join(map(chr, (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
    assert text.visible(f"a{turned}b") == "a" + "\ufffd" * 12 + "b"
    assert json.loads(files.encode([f"a{turned}b", {turned: 1}])) == ["a" + "\ufffd" * 12 + "b", {"\ufffd" * 12: 1}]
    for written in ("\\u202e", "\\\\u202e", "\\"):
        assert json.loads(files.encode(written)) == written, "a backslash and letters are no such character"
    assert json.loads(files.encode("\\\u202e")) == "\\\ufffd"


def test_the_policy_allows_two_scripts_by_fixed_hashes_and_nothing_from_outside() -> None:
    inline = environment().get_template("frame/scheme.js").render(), not_found.SCRIPT
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline]
    assert list(csp.SCRIPTS) == digests
    assert f"script-src 'self' 'sha256-{digests[0]}' 'sha256-{digests[1]}';" in csp.POLICY
    assert not [each for each in ("http", "*", "unsafe-eval") if each in csp.POLICY]


def chart_of(title: str, name: str) -> charts.Chart:
    drawing = charts.altair().Chart(charts.altair().Data(values=[])).mark_point(filled=True, color=charts.ACCENT)
    return charts.Chart("x", title, "One point.", charts.finish(drawing.encode(y="name:N"), [{"name": name}]))


def test_a_chart_escapes_names_and_follows_the_theme() -> None:
    drawing = charts.draw(chart_of("</title><script>", "</text><script>alert(1)</script>"))
    assert "<script>" not in drawing
    assert 'fill="var(--mv-accent)"' in drawing and 'fill="var(--mv-ink)"' in drawing


def test_a_chart_drawn_again_has_equal_bytes_also_from_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = chart_of("t", "a")
    first = charts.draw(chart)
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path))
    assert charts.draw(chart) == first
    (kept,) = tmp_path.glob("vl-convert-*/*")
    drawing = kept.read_text(encoding="utf-8").partition("\n")[2]
    assert drawing == vl_convert.vegalite_to_svg(chart.spec), "compiled once, for other data"
    for damaged in (b"", kept.read_bytes()[:-1]):
        kept.write_bytes(damaged)
        assert charts.draw(chart) == first


def test_a_chart_is_drawn_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "file"))
    assert charts.draw(chart_of("t", "a")).startswith("<svg")


def test_every_page_module_brings_its_own_publisher() -> None:
    names = [publisher.name for publisher in publishers()]
    assert len(names) == len(set(names)) and {"front", "systems", "runs", "items"} <= set(names)


def test_a_folder_with_something_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    with pytest.raises(BadInput, match="not a site of memeval"):
        building.build(tmp_path / "results", tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_a_missing_results_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no results folder"):
        building.build(tmp_path / "nowhere", tmp_path / "out")


def test_the_licence_of_data_is_said_in_plain_words() -> None:
    assert [labels.data_licence(each) for each in ("LicenseRef-none-stated", "LicenseRef-private", "MIT")] == [
        "no licence stated",
        "your own data",
        "MIT",
    ]
