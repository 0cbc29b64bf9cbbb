"""Every sentence of a built site that holds a number which comes from data, with the number computed again.

A digit on a page is explained in one of three ways: a rule below finds it in its sentence and computes it from the
stored files; it is in the words of a template or of the code; or it is part of a stored name, date or text. Anything
else fails, so that a new sentence with a number needs a rule.
"""

import ast
import gzip
import html
import json
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.claims.findings import read_findings
from memeval.claims.store import stored_regraded
from memeval.labels.store import stored_reports
from memeval.leaderboard.board import Board, BoardRow, BoardTable, RankStatus, build_board
from memeval.records.run import SystemKind
from tests.site import conftest
from tests.site.factory import FakeBenchmark

ROOT = Path(__file__).parents[3]
PAGES = (
    *("index.html", "benchmarks/fake@1/index.html", "runs/*/index.html", "systems/*/index.html", "systems/index.html"),
    *("compare/index.html", "graders/index.html", "published/index.html", "judges/index.html"),
    *("trade-offs/index.html", "releases/index.html", "ledger/index.html"),
    "tracks/*/index.html",
)
BLOCKS = frozenset(
    (
        *("p", "li", "dd", "dt", "figcaption", "caption", "h1", "h2", "h3", "h4", "td", "th"),
        *("summary", "div", "section", "header", "form", "option"),
    )
)
CELLS = frozenset(("td", "th"))
QUIET = frozenset(("script", "style", "svg", "pre", "code"))

COUNT = "[\\d,]*\\d"
"""A count, with or without separators."""


@dataclass
class Sentence:
    page: str
    section: str
    """The nearest id above it."""
    text: str


class Sentences(HTMLParser):
    """The sentences of a page, without what is directly in the cell of a table; a fact comes with its name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page, self.found = page, list[Sentence]()
        self._parts: list[str] = []
        self._open: list[str] = []
        self._quiet, self._section, self._name = 0, "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._quiet += tag in QUIET
        if tag in BLOCKS:
            self._flush()
            self._open.append(tag)
        self._section = dict(attrs).get("id") or self._section

    def handle_endtag(self, tag: str) -> None:
        self._quiet -= tag in QUIET
        if tag in BLOCKS and tag in self._open:
            self._flush()
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._quiet:
            self._parts.append(data)

    def _flush(self) -> None:
        text = " ".join("".join(self._parts).split())
        self._parts.clear()
        tag = self._open[-1] if self._open else ""
        if tag == "dt":
            self._name = text
        if text and tag not in CELLS:
            self.found.append(Sentence(self.page, self._section, f"{self._name}: {text}" if tag == "dd" else text))


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def signed(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "−")


def plain(number: str) -> str:
    return number.replace(",", "")


def wilson(points: float, of: int) -> tuple[float, float]:
    z, share = 1.959963984540054, points / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * (share * (1 - share) / of + z * z / (4 * of * of)) ** 0.5
    return middle - half, middle + half


def points_of(grade: Any, rule: str) -> float:
    """Return the points of an item by a rule; an error has none."""
    if grade.state.is_error:
        return 0.0
    return float(grade.alternates[rule] or 0) if rule in grade.alternates else float(grade.verdict is True)


@dataclass
class Stored:
    """What is stored of a board: nothing of it was made by the site."""

    folder: Path

    @cached_property
    def board(self) -> Board:
        return build_board(list(sealed_runs(self.results)), Ledger(self.results))

    @cached_property
    def rows(self) -> dict[str, BoardRow]:
        return {row.run.run_id: row for row in self.board.runs}

    @cached_property
    def tables(self) -> dict[str, BoardTable]:
        return {table.track.id: table for table in self.board.tables}

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @cached_property
    def ledger(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.results / "ledger.jsonl").read_text("utf-8").splitlines()]

    @cached_property
    def audits(self) -> list[dict[str, Any]]:
        found = [json.loads(path.read_text("utf-8")) for path in self.results.glob("audits/**/audit.json")]
        return sorted(found, key=lambda audit: audit["started"])

    @cached_property
    def files(self) -> dict[str, dict[str, Any]]:
        return {f"{file.source}/{file.file}": file.data() for file in stored_regraded(self.results)}

    @cached_property
    def findings(self) -> Any:
        return read_findings(self.results)

    @cached_property
    def labels(self) -> dict[str, Any]:
        return {report.sample.name: report for report in stored_reports(self.results)}

    def run(self, page: str) -> BoardRow:
        return self.rows[page.split("/")[1]]

    def grades(self, row: BoardRow, category: str | None = None) -> list[Any]:
        return [grade for grade in row.folder.grades() if category in (None, grade.category)]

    def correct(self, row: BoardRow, category: str | None = None) -> int:
        return sum(grade.verdict is True for grade in self.grades(row, category))

    def composite(self, row: BoardRow, rule: str = "") -> float:
        """Return the weighted mean of the shares of right items, or of the points by another rule."""
        total = 0.0
        for plan in row.run.track.categories:
            grades = self.grades(row, plan.name)
            points = sum(points_of(grade, rule) for grade in grades)
            total += plan.weight * points / plan.items
        return total

    def table(self, sentence: Sentence) -> BoardTable:
        track = re.search(r"[0-9a-f]{12}", f"{sentence.section} {sentence.page}")
        track = track or re.search(r'(?<= id="track-)[0-9a-f]{12}', page_of(self, sentence))
        assert track is not None, sentence
        return self.tables[track[0]]

    def named(self, table: BoardTable, name: str) -> BoardRow:
        return next(row for row in table.rows if spelled(row.run.system.name) == name)

    def audit(self, judge: str) -> dict[str, Any]:
        return [audit for audit in self.audits if audit["judge"] == judge][-1]


Compute = Callable[[Stored, Sentence, "re.Match[str]"], Sequence[object]]
RULES: list[tuple[re.Pattern[str], Compute]] = []


def rule(pattern: str) -> Callable[[Compute], Compute]:
    """Register what computes the groups of a pattern; a count is compared without its separators."""

    def register(compute: Compute) -> Compute:
        RULES.append((re.compile(pattern), compute))
        return compute

    return register


# -- front ----------------------------------------------------------------------------------------------------------


@rule(rf"^(\d+) runs? · ({COUNT}) graded answers · updated (\S+)")
def _facts(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    runs = [row.run for row in stored.rows.values()]
    times = [run.timing.ended for run in runs] + [line["at"] for line in stored.ledger]
    times += [audit["started"] for audit in stored.audits]
    answered = (not grade.state.is_error for row in stored.rows.values() for grade in row.folder.grades())
    return len(runs), sum(answered), max(times)[:10]


@rule(r"(\d+) files? of answers that (\d+) other projects? published")
def _regraded(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    return len(stored.files), len({file["repository"] for file in stored.files.values()})


@rule(r"^(\S+) (accepted|superseded|invalidated) (\d+) runs? of (.+) on Fake benchmark$")
def _news(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    lines = [line for line in stored.ledger if line["event"] == found[2] and line["at"][:10] == found[1]]
    return found[1], found[2], len(lines), spelled(stored.rows[lines[0]["run_id"]].run.system.name)


@rule(r"Reset(\d+) rows?$")
def _rows_of_the_first(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    page = page_of(stored, sentence)
    return (page[page.index("<tbody>") : page.index("</table>")].partition("<tfoot")[0].count("<tr"),)


@rule(r"^All (\d+) benchmarks?, (\d+) tracks? and (\d+) runs?$")
def _of_product(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    slug = sentence.page.split("/")[1]
    rows = [row for row in stored.rows.values() if row.run.system.slug == slug]
    tracks = [table for table in stored.tables.values() if slug in {row.run.system.slug for row in table.rows}]
    return len({row.run.track.benchmark for row in rows}), len(tracks), len(rows)


# -- a benchmark and its tables --------------------------------------------------------------------------------------


@rule(r"^Items: (\d+): Belief update (\d+) \((\d+) %, \); Noise resistance (\d+) \((\d+) %, \)$")
def _plan(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    track = stored.table(sentence).track
    return track.planned, *(f"{part:g}" for each in track.categories for part in (each.items, 100 * each.weight))


@rule(r"Answer latency \(median\): ([\d.]+) ms")
def _latency(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    return (cost_of(stored.table(sentence).rows[0], "ms", found[1]),)


@rule(r"(\d+) systems?(?:, best: (.+) ([\d.]+) %)?$")
def _way(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    table = stored.tables[sentence.section.removeprefix("track-")]
    best = next((row for row in table.rows if row.rank), None)
    systems = sum(row.run.system.kind is not SystemKind.CONTROL for row in table.rows)
    return (
        systems,
        *((None, None) if best is None else (spelled(best.run.system.name), percent(stored.composite(best)))),
    )


@rule(r"(?<!Browse )all (\d+) questions")
def _planned(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page) if sentence.page.startswith("runs/") else stored.table(sentence).rows[0]
    return (row.run.track.planned,)


@rule(r"Judge: (\S+) (?:at \S+|\(offline\)) · Grader audit: passes ([\d.]+) % of wrong answers \((\d+) of (\d+)\)")
def _audit(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    return found[1], *false_accepts(stored.audit(found[1]))


@rule(r"^(\S+) \d\d:\d\d UTC: grader audit: passes ([\d.]+) % of wrong answers \((\d+) of (\d+)\)")
def _earlier_audit(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    (audit,) = (audit for audit in stored.audits if audit["started"].startswith(found[1]))
    return found[1], *false_accepts(audit)


def false_accepts(audit: dict[str, Any]) -> tuple[object, ...]:
    counts = [category["false_accepts"] for category in audit["categories"].values()]
    count, of = sum(each["count"] for each in counts), sum(each["of"] for each in counts)
    return percent(count / of), count, of


@rule(r"^(\d+) earlier audits? of this judge")
def _earlier(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    return (max(Counter(audit["judge"] for audit in stored.audits).values()) - 1,)


@rule(r"share first place among (\d+): their")
def _sharing(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    table = stored.table(sentence)
    assert sum(row.rank is not None and row.rank.best == 1 for row in table.rows) > 1
    return (table.ranked,)


@rule(r"Each of (\d+) is significantly better than the best simple baseline")
def _each_better(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    table = stored.table(sentence)
    tests = [row.against_baseline for row in table.rows if row.rank]
    assert all(test is not None and test.apart and test.difference > 0 for test in tests)
    return (len(tests),)


@rule(r"differ by less than ([\d.]+) points usually tie here")
def _detectable(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    tests = stored.table(sentence).tests
    assert tests is not None
    return (percent(tests.detectable.composite),)


@rule(r"^(\d+) invalidated or superseded runs?$")
def _withdrawn(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    track = stored.table(sentence).track.id
    gone = (RankStatus.INVALIDATED, RankStatus.SUPERSEDED)
    return (sum(row.standing in gone and row.run.track_id == track for row in stored.rows.values()),)


@rule(r"Best: (.+) \(([\d.]+) %, (\S+) ?(tokens|ms|s|)\)\.")
def _best(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    row = stored.named(stored.table(sentence), found[1])
    return found[1], percent(stored.composite(row)), cost_of(row, found[4], found[3]), found[4]


@rule(r"^All (\d+) systems as a table")
def _drawn(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    known = [row for row in stored.table(sentence).rows if is_drawn(row)]
    by_tokens = [row for row in known if row.run.tokens.per_question is not None]
    tokens = sentence.page.startswith("benchmarks/") or "tokens" in sentence.section
    return (len(by_tokens if tokens else known),)


def is_drawn(row: BoardRow) -> bool:
    return row.run.system.kind is SystemKind.SUBMISSION and row.run.coverage.full


def cost_of(row: BoardRow, unit: str, shown: str) -> object:
    if unit == "tokens":
        return row.run.tokens.per_question and f"{row.run.tokens.per_question:.0f}"
    phases = row.run.timing.phases.values()
    seconds = {each.p50 for each in phases} | {each.total for each in phases}
    return (
        shown if any(f"{value * (1000 if unit == 'ms' else 1):.3g}" == shown for value in seconds if value) else seconds
    )


@rule(r"Dashed lines are controls: ((?:[^%]+ [\d.]+ %(?:, |\.))+)")
def _controls(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    rows = [row for row in stored.table(sentence).rows if row.run.system.kind is SystemKind.CONTROL]
    said = [f"{row.run.system.name} {percent(stored.composite(row))} %" for row in rows]
    return (", ".join(said) + ".",)


@rule(r"^(\d+) clusters · from (\d+) runs$")
def _clusters(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    clusters = {grade.cluster for row in stored.rows.values() for grade in stored.grades(row)}
    tables = [table for table in stored.tables.values() if table.tests is not None]
    tested = {str(sum(bool(row.rank) or row.run is table.baseline for row in table.rows)) for table in tables}
    return len(clusters), found[2] if found[2] in tested else tested


@rule(r"[Ww]ithin (\d+) points?(?: of (?:the best|its score)| costs less)")
def _margin(_stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    """Constants: what a reader can choose, and the margin of the trade-offs."""
    return (found[1] if found[1] in ("1", "2", "5", "10") else "no such margin",)


# -- a run -----------------------------------------------------------------------------------------------------------


@rule(r"· (?:only entry|rank (\d+)(?:–(\d+))?) (?:claimed|replayed|recomputed|re-asked)")
def _rank(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    rank = stored.run(sentence.page).rank
    assert rank is not None
    if found[1] is None:
        return None, None
    return rank.best, rank.worst if rank.worst != rank.best else None


@rule(r"^Partial run: (\d+) of (\d+) items|^Items done: (\d+)/(\d+)$|^Browse all (\d+) questions")
def _coverage(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    done, planned = len(stored.grades(row)), row.run.track.planned
    counts = [done, planned, done, planned, done]
    return [None if group is None else count for count, group in zip(counts, found.groups(), strict=True)]


@rule(r"^False hedges: ([\d.]+) %$")
def _hedges(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    right = [grade for grade in stored.grades(stored.run(sentence.page)) if not grade.state.is_error]
    return (percent(sum("hedged" in {flag.value for flag in grade.flags} for grade in right) / len(right)),)


@rule(r"(\S+) has (\d+) of (\d+) items\.")
def _category_items(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    (plan,) = (plan for plan in row.run.track.categories if plan.name == found[1])
    return found[1], len(stored.grades(row, plan.name)), plan.items


@rule(r"^Items done: (\d+) correct, (\d+) errors$")
def _correct(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    return stored.correct(row), sum(grade.state.is_error for grade in stored.grades(row))


@rule(r"^(Weighted \w+|Published rule): ([\d.]+) %$")
def _composite(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    return found[1], percent(stored.composite(stored.run(sentence.page), "published" if "rule" in found[1] else ""))


@rule(r"^(Weighted \w+|Published rule): ([\d.]+)–([\d.]+)$")
def _interval(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    scores = stored.run(sentence.page).run.scores
    interval = (scores.alternates["published"] if "rule" in found[1] else scores.composite).interval
    assert interval is not None
    middle = stored.composite(stored.run(sentence.page), "published" if "rule" in found[1] else "")
    assert interval.low <= middle <= interval.high
    return found[1], percent(interval.low), percent(interval.high)


@rule(r"^Accuracy, errors excluded: ([\d.]+) %$")
def _graded(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    graded = [grade for grade in stored.grades(row) if not grade.state.is_error]
    return (percent(stored.correct(row) / len(graded)),)


@rule(r"^Tokens / question: (.+)$")
def _tokens(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    tokens = stored.run(sentence.page).run.tokens.per_question
    return ("–" if tokens is None else f"{tokens:.0f}",)


@rule(r"^(?:Total cost|Cost): \$([\d.]+)")
def _cost(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    run = imported_run(stored) if sentence.page == "published/index.html" else stored.run(sentence.page).run
    known = [run.cost.usd, run.imported.cost_usd if run.imported else None]
    written = {f"{usd:.2g}" if 0 < usd < 1 else f"{usd:.2f}" for usd in known if usd is not None}
    return (found[1] if found[1] in written else written,)


@rule(r"^(published): ([\d.]+)$")
def _slice_rule(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    """A share by another scoring rule, below a category."""
    row = stored.run(sentence.page)
    shares = set()
    for plan in row.run.track.categories:
        grades = stored.grades(row, plan.name)
        points = sum(points_of(grade, found[1]) for grade in grades)
        shares.add(percent(points / plan.items))
    return found[1], found[2] if found[2] in shares else shares


@rule(r"^hedged (\d+)$")
def _hedged(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    counts = {
        sum("hedged" in {flag.value for flag in grade.flags} for grade in stored.grades(row, plan.name))
        for plan in row.run.track.categories
    }
    return (found[1] if int(found[1]) in counts else counts,)


STATES = {"graded": "graded", "timed out": "timeout", "no clear verdict": "unparsed", "judge failed": "judge_error"}


@rule(r"^(graded|timed out|no clear verdict|judge failed|skipped) (\d+)$")
def _states(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    row = stored.run(sentence.page)
    grades = stored.grades(row)
    if found[1] == "skipped":
        return found[1], row.run.track.planned - len(grades)
    return found[1], sum(grade.state.value == STATES[found[1]] for grade in grades)


@rule(r"^Verify in this browser Checks the digests of (\d+) files \(([\d.]+) MB\)")
def _verified(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    listed = re.search(r'data-files="([^"]+)"|data-verify="([^"]+)"', page_of(stored, sentence))
    assert listed is not None
    names = json.loads(html.unescape(listed[1] or listed[2]))
    files = [path for path in stored.run(sentence.page).folder.path.iterdir() if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return len(files), f"{size / 1e6:.2f}" if names else None


@rule(r"^Last (\d+) lines\.")
def _log(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    return (min(20, stored.run(sentence.page).run.files["log.jsonl"].rows),)


@rule(r"Concurrency: (\d+)")
def _concurrency(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    return (stored.run(sentence.page).run.timing.concurrency,)


@rule(r"^Missing answers: (\d+) planned questions? without|^Ignored answers: (\d+) answers? to questions")
def _missing(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    origin = stored.run(sentence.page).run.imported
    assert origin is not None
    return len(origin.missing) if found[1] else None, len(origin.unknown) if found[2] else None


# -- a system, and the page to compare -------------------------------------------------------------------------------


@rule(r"^(Belief update|Noise resistance) ([+−][\d.]+) p [=<] ([\d.]+); score ([\d.]+) \[([\d.]+), ([\d.]+)\]$")
def _difference(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    name = found[1].lower().replace(" ", "-")
    for table in stored.tables.values():
        for row in table.rows:
            if row.run.system.slug != sentence.page.split("/")[1] or table.baseline is None or table.tests is None:
                continue
            base = stored.rows[table.baseline.run_id]
            difference = (stored.correct(row, name) - stored.correct(base, name)) / 30
            if signed(difference) == found[2]:
                low, high = wilson(stored.correct(row, name), 30)
                test = table.tests.pair(row.folder.path, base.folder.path, name)
                assert test.corrected is not None
                p = "0.001" if test.corrected < 0.001 else f"{test.corrected:.3f}"
                return found[1], found[2], p, percent(stored.correct(row, name) / 30), percent(low), percent(high)
    return ("no such difference",)


# -- graders and findings --------------------------------------------------------------------------------------------


@rule(rf"^Answers: ({COUNT}), of (\d+) files?$")
def _sample(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    sample = stored.labels[sentence.section].sample
    return sum(stratum.rows for stratum in sample.strata), len(sample.files)


@rule(rf"^Sample (\S+) ({COUNT}) answers? of (\d+) files?$")
def _fold(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    report = stored.labels[found[1]]
    return found[1], report.labelled, len(report.sample.files)


@rule(r"pass ([\d.]+) % of the wrong or .*, and fail ([\d.]+) % .* scores are (\S+) to (\d+) points too (high|low),")
def _worth(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    report, is_judge = stored.labels["locomo-answers"], sentence.text.startswith("LLM judges")
    lines = report.errors if is_judge else [each for one in report.versions for each in one.reported]
    errors = [each for each in lines if each.part == "all" and (each.grader == "judge") is is_judge][-1]
    gaps = [100 * ((each.judge if is_judge else each.rules) - each.right.value) for each in report.systems]
    ends = sorted(gaps if is_judge else (-gap for gap in gaps))
    assert errors.false_accepts and errors.false_rejects and (is_judge or errors.grader in sentence.text)
    shares = percent(errors.false_accepts.value), percent(errors.false_rejects.value)
    return *shares, f"{ends[0]:.0f}", f"{ends[-1]:.0f}", "high" if is_judge else "low"


@rule(r"these systems, the rules agree .* at Kendall’s τ ([\d.]+), LLM judges at (\d\.\d+)\.")
def _order(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    taus = {order.second: order.tau for order in stored.labels["locomo-answers"].orders if order.first == "labels"}
    return f"{taus['rules']:.2f}", f"{taus['judge']:.2f}"


@rule(r"^Drawn: (\d+), by file, category and verdicts, on (\S+) with seed (\d+)$")
def _draw(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    sample = stored.labels[sentence.section].sample
    return sum(stratum.drawn for stratum in sample.strata), sample.drawn_at, sample.seed


@rule(r"^With a final label: (\d+)$")
def _labelled(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    readers = labels_of(stored, sentence)
    decided = {name for name, rows in readers.items() if reading_of(stored, sentence, name)["decides"]}
    drawn = {row for rows in readers.values() for row in rows}
    final = 0
    for row in drawn:
        said = [rows[row] for name, rows in readers.items() if row in rows and name not in decided]
        last = [readers[name][row] for name in decided if row in readers[name]]
        final += bool(last) or (len(said) > 1 and len(set(said)) == 1)
    return (final,)


@rule(r"^Expected answer doubted: (\d+) rows?$")
def _doubted(stored: Stored, sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    lines = (json.loads(line) for path in reader_files(stored, sentence) for line in lines_of(path))
    return (len({line["label_id"] for line in lines if line.get("doubt")}),)


@rule(r"^Reader (\S+): .*?, (\d+) labels?, (\d{4}-\d\d-\d\d)")
def _reader(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    read_at = reading_of(stored, sentence, found[1])["read_at"]
    return found[1], len(labels_of(stored, sentence)[found[1]]), read_at


@rule(r"^Agreement: (\S+) and (\S+): ([\d.]+) % equal labels \((\d+) of (\d+)\), Cohen’s κ ([\d.]+)")
def _agreement(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    first, second = (labels_of(stored, sentence)[name] for name in found.group(1, 2))
    both = sorted(first.keys() & second.keys())
    equal = sum(first[row] == second[row] for row in both)
    counts = Counter(first[row] for row in both), Counter(second[row] for row in both)
    chance = sum(counts[0][label] * counts[1][label] for label in counts[0]) / len(both) ** 2
    kappa = 1.0 if chance == 1 else (equal / len(both) - chance) / (1 - chance)
    return found[1], found[2], percent(equal / len(both)), equal, len(both), f"{kappa:.2f}"


@rule(r"κ [\d.]+ \(([\d.]+) to ([\d.]+)\)$")
def _kappa_interval(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    pairs = {(f"{pair.low:.2f}", f"{pair.high:.2f}") for pair in stored.labels[sentence.section].pairs if pair.low}
    return found.groups() if found.groups() in pairs else (pairs, None)


@rule(r"(?:\(p = |found \(p = )([\d.]+)\)")
def _equal_errors(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    report = sample_above(stored, sentence)
    tests = [report.equal_rejects, report.equal_accepts]
    tests += [table for each in report.versions for table in (each.equal_rejects, each.equal_accepts)]
    values = {f"{p:.3f}" for table in tests for p in table.values() if p is not None}
    return (found[1] if found[1] in values else values,)


@rule(r"^By \w+ and by \w+: τ = (−?[\d.]+)$")
def _tau(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    values = {f"{order.tau:.2f}".replace("-", "−") for order in sample_above(stored, sentence).orders}
    return (found[1] if found[1] in values else values,)


def sample_above(stored: Stored, sentence: Sentence) -> Any:
    page = page_of(stored, sentence)
    known = [name for name in stored.labels if f'id="{name}"' in page]
    return stored.labels[sentence.section if sentence.section in known else known[0]]


def reader_files(stored: Stored, sentence: Sentence) -> list[Path]:
    return sorted((stored.results / "labels" / sentence.section).glob("*.jsonl.gz"))


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def reading_of(stored: Stored, sentence: Sentence, reader: str) -> dict[str, Any]:
    path = stored.results / "labels" / sentence.section / f"{reader}.json"
    return dict(json.loads(path.read_text("utf-8")))


def reader_name(path: Path) -> str:
    return path.name.partition(".")[0]


def labels_of(stored: Stored, sentence: Sentence) -> dict[str, dict[str, str]]:
    """Return the label of each row, by reader."""
    found = {}
    for path in reader_files(stored, sentence):
        rows = [json.loads(line) for line in lines_of(path)]
        if rows and "label" in rows[0] and (path.parent / f"{reader_name(path)}.json").is_file():
            found[reader_name(path)] = {row["label_id"]: row["label"] for row in rows}
    return found


@rule(r"^Counted again from published answers: .*: (holds) (\d+), (differs) (\d+), (named .+) (\d+), (not .+) (\d+)$")
def _verdicts(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    counts = Counter(finding.verdict.value for finding in stored.findings.findings)
    return [part for verdict in found.groups()[::2] for part in (verdict, counts[verdict])]


@rule(r"^(Stated by|Counted again|Graded again|Products that)[\w ]+: (\d+)$")
def _classes(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    cells = [row.split("<td") for row in published_rows(stored, sentence)]
    numbers = {
        "Stated by": sum(">–<" not in row[2] for row in cells),
        "Counted again": sum(finding.recount is not None for finding in stored.findings.findings),
        "Graded again": sum(">–<" not in row[4] for row in cells),
        "Products that": 0,
    }
    return found[1], numbers[found[1]]


@rule(r"^Reset(\d+) rows$")
def _published(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    if not sentence.page.startswith("published/"):
        return _rows_of_the_first(stored, sentence, found)
    named = {name for one in stored.findings.findings if one.claim.recount for name in one.claim.recount.files}
    return (len(stored.findings.findings) + len(stored.files.keys() - named) + 1,)


@rule(r"^(RAG of (\d+) tokens)$")
def _product(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    """The name of a product in the list of the filter: the first part of a system's name."""
    return found.groups() if any(found[1] in row for row in published_rows(stored, sentence)) else (None, None)


@rule(rf"^Counted from: (\S+), ({COUNT}) rows(?:, ({COUNT}) counted)?")
def _counted_from(stored: Stored, sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    (finding,) = (one for one in stored.findings.findings if one.claim.id == sentence.section)
    (file,) = (file for file in finding.recount.files if file.name == found[1])
    return file.name, stored.files[file.name]["counts"]["rows"], file.counted if file.counted != file.rows else None


@rule(r"^Published score: ([\d.]+) %: accuracy, (\d+) questions, judge: ")
def _published_score(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    known = {(percent(claim.score), str(claim.items)) for claim in imported_run(stored).imported.claims}
    return found.groups() if found.groups() in known else (known, None)


@rule(r"^(All planned|Answered) questions(?: only)?: ([\d.]+) %, ([\d.]+)–([\d.]+), (\d+) of (\d+)$")
def _imported_share(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    tally = imported_run(stored).scores.overall
    items = tally.planned if found[1] == "All planned" else tally.done
    low, high = wilson(tally.correct, items)
    return found[1], percent(tally.correct / items), percent(low), percent(high), tally.correct, items


@rule(r"^Answered: (\d+)/(\d+), (\d+) missing, (\d+) errors$")
def _answered(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    run = imported_run(stored)
    return run.coverage.done, run.coverage.planned, len(run.imported.missing), run.scores.overall.errors


@rule(r"^(\d+) errors that this project published, newest first$")
def _corrections(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    return (len(stored.findings.corrections),)


def imported_run(stored: Stored) -> Any:
    (run,) = (row.run for row in stored.rows.values() if row.run.imported)
    return run


def published_rows(stored: Stored, sentence: Sentence) -> list[str]:
    page = page_of(stored, sentence)
    return re.findall(r"<tr[^>]* data-product=.*?</tr>", page, re.S)


@rule(r"^(\d+) of (\d+) answers \(([\d.]+) %\) did not get the same verdict")
def _split(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    panels = {(panel.split, next(iter(panel.judges.values())).of) for panel in stored.findings.trials.panels}
    number, of = int(found[1]), int(found[2])
    return number, of, percent(number / of) if (number, of) in panels else panels


@rule(r"(\S+) passed ([\d.]+) %")
def _passed(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    rates = [panel.judges.get(found[1]) for panel in stored.findings.trials.panels]
    shares = {percent(rate.passed / rate.of) for rate in rates if rate is not None}
    return found[1], found[2] if found[2] in shares else shares


@rule(rf"labelled ({COUNT}) of the ({COUNT}) vague answers")
def _vague(stored: Stored, _sentence: Sentence, _found: re.Match[str]) -> Sequence[object]:
    report = stored.labels["locomo-vague"]
    return report.labelled, sum(stratum.rows for stratum in report.sample.strata)


@rule(r"([\d.]+) % of those with the label (right|imprecise|wrong)")
def _passes(stored: Stored, _sentence: Sentence, found: re.Match[str]) -> Sequence[object]:
    (errors,) = (one for one in stored.labels["locomo-vague"].errors if (one.grader, one.part) == ("judge", "all"))
    (count,) = (count for count in errors.table if count.label.value == found[2])
    share = {
        "right": errors.false_rejects and 1 - errors.false_rejects.value,
        "imprecise": errors.imprecise_accepted and errors.imprecise_accepted.value,
        "wrong": errors.wrong_accepted and errors.wrong_accepted.value,
    }[found[2]]
    assert count.accepted or not share, "a share of passed answers, and none passed"
    return percent(share), found[2]


# -- the walk --------------------------------------------------------------------------------------------------------


def spelled(name: str) -> str:
    """Return a stored text as a page spells it."""
    shown = "".join(chr(0x2400 + ord(c)) if ord(c) < 32 else "\ufffd" if c == "\u202e" else c for c in name)
    return " ".join(shown.split())


def page_of(stored: Stored, sentence: Sentence) -> str:
    return (stored.folder / "site" / sentence.page).read_text("utf-8")


def sentences(folder: Path) -> Iterator[Sentence]:
    for pattern in PAGES:
        paths = sorted((folder / "site").glob(pattern))
        assert paths, pattern
        for path in paths:
            text = path.read_text("utf-8")
            reader = Sentences(path.relative_to(folder / "site").as_posix())
            reader.feed(text[text.index("<article") : text.index("</article>")])
            yield from reader.found


def words_of_the_code() -> set[str]:
    """Return the words of templates between their values, and the texts in the code, as far as they hold a digit."""
    found: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        text = re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.S)
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "\0", text, flags=re.S)
        found |= {" ".join(html.unescape(piece).split()) for piece in re.split("<[^>]*>|\0", text)}
    for path in (ROOT / "harness/memeval").rglob("*.py"):
        if "/site/" in str(path) or "/controls/" in str(path) or path.name == "worth.py":
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(" ".join(node.value.split()))
    for path in (ROOT / "harness/memeval").rglob("*.toml"):
        found |= {spelled(text) for text in leaves(tomllib.loads(path.read_text("utf-8")))}
    return {text for text in found if re.search(r"\d", text)}


def leaves(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield str(name)
            yield from leaves(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from leaves(value)
    elif isinstance(data, str):
        yield data


def stored_texts(stored: Stored) -> set[str]:
    """Return all names, dates and texts that are stored, as pages spell them."""
    documents: list[object] = [row.run.data() for row in stored.rows.values()]
    documents += [stored.ledger, stored.audits, list(stored.files.values()), FakeBenchmark().info.data()]
    documents += [stored.findings.data(), [report.data() for report in stored.labels.values()]]
    found = {spelled(text) for text in leaves(documents)}
    times = {text for text in found if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", text)}
    found |= {text[:10] for text in times} | {f"{text[:10]} {text[11:16]} UTC" for text in times}
    return {text for text in found if re.search(r"\d", text) and (len(text) > 2)}


def explained(texts: Iterable[str], sentence: str) -> set[int]:
    """Return the places of a sentence at which one of these texts is."""
    places: set[int] = set()
    for text in texts:
        start = sentence.find(text)
        while start >= 0:
            places |= set(range(start, start + len(text)))
            start = sentence.find(text, start + 1)
    return places


@dataclass
class Walk:
    faults: list[str] = field(default_factory=list)
    computed: Counter[str] = field(default_factory=Counter)
    """By rule: the sentences in which it computed a number."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """A board with every kind of row, with all published answers and labels of this repository."""
    folder = tmp_path_factory.mktemp("numbers")

    def publish(folder: Path) -> None:
        for name in ("results/labels", "results/imported", "sources/findings"):
            shutil.copytree(ROOT / name, folder / name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conftest, "published_board", publish)
        conftest.build_board(folder, FakeBenchmark())
    return Stored(folder)


def walk(stored: Stored, found: Iterable[Sentence]) -> Walk:
    result = Walk()
    known = sorted(words_of_the_code() | stored_texts(stored), key=len, reverse=True)
    for sentence in found:
        if not re.search(r"\d", sentence.text):
            continue
        places: set[int] = set()
        for pattern, compute in RULES:
            for match in pattern.finditer(sentence.text):
                try:
                    computed = compute(stored, sentence, match)
                except (KeyError, IndexError, StopIteration, AssertionError) as error:
                    computed = [f"nothing to compute it from ({error!r})"]
                wanted = ["" if each is None else str(each) for each in computed]
                shown = ["" if each is None else each for each in match.groups()]
                if [plain(each) for each in shown] != [plain(each) for each in wanted]:
                    result.faults.append(f"{sentence.page}: {sentence.text!r} says {shown}, stored is {wanted}")
                for group in range(1, len(shown) + 1):
                    places |= set(range(*match.span(group)))
                result.computed[compute.__name__] += 1
        places |= explained(known, sentence.text)
        left = [match for match in re.finditer(r"\d+", sentence.text) if match.start() not in places]
        if left:
            result.faults.append(f"{sentence.page}: no rule for {left[0][0]} in {sentence.text!r}")
    return result


def test_every_number_in_a_sentence_is_that_of_the_stored_files(stored: Stored) -> None:
    result = walk(stored, sentences(stored.folder))
    assert not result.faults, "\n".join(result.faults[:40])
    unused = {compute.__name__ for _pattern, compute in RULES} - result.computed.keys()
    assert not unused, "each rule computes a number of this board"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("index.html", "4 systems · 1 benchmark · 15 runs · 871 graded items · last updated 2026-11-27"),
        ("published/index.html", "Counted again from published answers: 3"),
        ("published/index.html", "41 of our findings are wrong"),
    ],
)
def test_a_number_that_is_not_stored_is_found(stored: Stored, page: str, text: str) -> None:
    assert walk(stored, [Sentence(page, "", text)]).faults
