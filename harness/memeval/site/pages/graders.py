"""What the graders are worth: the errors of rules and judges, by readers' labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memeval.archive.rows import indented
from memeval.claims.store import file_name
from memeval.judging.rules import RulesJudge
from memeval.labels.worth import ALL, ALPHA, JUDGE, STYLES
from memeval.records.finding import FindingsReport
from memeval.records.label import GraderErrors, LabelReport, ReaderKind, SampleShare
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page
from memeval.site.model.text import number, percent
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render

LARGEST_FALSE_ACCEPT = 0.02
"""If the interval of the false accepts ends here or below, the share that a grader calls right is a lower bound."""

GRADERS = {"judge": "LLM judges", "rules": "the rules"}

ORDERS = {"labels": "labels", "judge": "judges", "rules": "rules"}


@dataclass(frozen=True)
class ErrorTable:
    title: str
    lines: tuple[tuple[str, GraderErrors], ...]


def error_tables(report: LabelReport) -> list[ErrorTable]:
    names = {system.file: system.label for system in report.systems}
    styles = [name for _most, name in STYLES]
    groups: dict[str, list[tuple[str, GraderErrors]]] = {
        "All answers": [],
        "By category": [],
        "By length of the answer": [],
        "By file": [],
    }
    for each in report.errors:
        if each.part == ALL:
            groups["All answers"].append(("all", each))
        elif each.part in names:
            groups["By file"].append((names[each.part], each))
        else:
            groups["By length of the answer" if each.part in styles else "By category"].append((each.part, each))
    return [
        ErrorTable(title, tuple(sorted(lines, key=lambda line: _place(line[0], styles))))
        for title, lines in groups.items()
        if lines
    ]


def _place(part: str, styles: Sequence[str]) -> tuple[int, str]:
    return (styles.index(part), "") if part in styles else (len(styles), part)


def part_name(report: LabelReport, part: str) -> str:
    return next((system.label for system in report.systems if system.file == part), part)


def grader_name(grader: str) -> str:
    return "judge" if grader == JUDGE else f"rules ({grader})"


def is_lower_bound(false_accepts: SampleShare | None) -> bool:
    """Return whether the share that a grader calls right is a lower bound of the share of right answers."""
    return false_accepts is not None and false_accepts.high <= LARGEST_FALSE_ACCEPT


def whole(report: LabelReport) -> list[GraderErrors]:
    return [each for each in report.errors if each.part == ALL]


def differs(p: float | None) -> bool:
    """Return whether a test says that shares differ between files."""
    return p is not None and p < ALPHA


def rules_do_not_rank(reports: Iterable[LabelReport]) -> list[str]:
    """Return the samples whose systems the newest rules do not rank: their false rejects differ."""
    return [report.sample.name for report in reports if differs(_newest(report))]


def _newest(report: LabelReport) -> float | None:
    found = report.equal_rejects.get(report.sample.judge)
    for versions in report.versions:
        found = versions.equal_rejects.get(versions.verdicts[-1].judge, found)
    return found


def verdict(reports: Sequence[LabelReport], readers: str) -> list[str]:
    """Return what graders are worth, in three sentences at most, by the sample of most systems.

    They say what judges let through, what the rules of today let through on answers that did not tune them, and what
    to trust. ``readers``: what to call those who labelled the answers.
    """
    report = max(reports, key=lambda each: len(each.systems), default=None)
    if report is None:
        return []
    errors = {each.grader: each for each in whole(report)}
    errors |= {each.grader: each for versions in report.versions for each in versions.reported if each.part == ALL}
    rules = RulesJudge.name if RulesJudge.name in errors else report.sample.judge
    said = [
        sentence
        for name, grader, shares in (
            ("LLM judges", JUDGE, [(each.judge, each.right.value) for each in report.systems]),
            (f"The rules ({rules}, no LLM)", rules, [(each.rules, each.right.value) for each in report.systems]),
        )
        if grader in errors and (sentence := _worth(name, errors[grader], readers, shares)) is not None
    ]
    taus = {order.second: order.tau for order in report.orders if order.first == "labels" and order.tau is not None}
    if len(set(taus.values())) == 2:
        (low, worse), (high, better) = sorted((tau, GRADERS[name]) for name, tau in taus.items())
        said.append(
            f"In the order of these systems, {better} agree with the labels at Kendall’s τ "
            f"{number(high)}, {worse} at {number(low)}. So few systems do not show which is better. For exact scores "
            "and small differences, trust neither."
        )
    return said


def _worth(name: str, errors: GraderErrors, readers: str, shares: Sequence[tuple[float, float]]) -> str | None:
    if errors.false_accepts is None or errors.false_rejects is None or not shares:
        return None
    gaps = sorted(100 * (given - right) for given, right in shares)
    way, (low, high) = ("low", (-gaps[-1], -gaps[0])) if gaps[-1] < 0 else ("high", (gaps[0], gaps[-1]))
    accepts, rejects = percent(errors.false_accepts.value), percent(errors.false_rejects.value)
    return (
        f"{name} pass {accepts} % of the wrong or imprecise answers, and fail {rejects} % of the right ones. "
        f"Their scores are {number(low, 0)} to {number(high, 0)} points too {way}, "
        f"if the labels of {readers} are right."
    )


def labelled_tests(findings: FindingsReport, reports: Iterable[LabelReport]) -> list[tuple[LabelReport, GraderErrors]]:
    """Return samples of answers that were written to test a judge, each with the errors of that judge."""
    claims = [finding.claim for finding in findings.findings]
    tests = {name for claim in claims if claim.test_set and claim.recount for name in claim.recount.files}
    return [
        (report, errors)
        for report in reports
        if tests.issuperset(report.sample.files)
        for errors in whole(report)
        if errors.grader == JUDGE
    ]


class GradersPage(Publisher):
    name = "graders"
    order = 47

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        reports = site.labels
        kinds = {reading.kind for report in reports for reading in report.readings}
        yield Page(
            url="graders/",
            title="What the graders are worth",
            description="Can the grader be trusted? How often rules and LLM judges grade an answer wrongly.",
            body=render(
                "pages/graders.html",
                "graders/",
                reports=reports,
                verdict=verdict(reports, "readers (language models)" if kinds == {ReaderKind.MODEL} else "readers"),
                rules=RulesJudge.name,
                only_models=kinds == {ReaderKind.MODEL},
                orders=ORDERS,
                differs=differs,
                error_tables=error_tables,
                grader_name=grader_name,
                files={file_name(file): file for file in site.regraded},
                part_name=part_name,
                is_lower_bound=is_lower_bound,
                whole=whole,
            ),
            wide=True,
        )
        if reports:
            yield Asset("graders.json", indented([report.data() for report in reports]))
