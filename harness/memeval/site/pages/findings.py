"""Findings: published scores counted again, judges on trial, and our own corrections."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from memeval.records.finding import ClaimVerdict, FindingsReport
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.pages.claims import BADGES, claimed_text, counted_text
from memeval.site.pages.grader_errors import labelled_tests
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


class FindingsPages(Publisher):
    """The pages *Findings* and *Judges on trial*, and ``findings.json``."""

    name = "findings"
    order = 46

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        report = site.findings
        yield Page(
            url="findings/",
            title="Findings",
            description="Published scores of memory systems, counted again from the files behind them.",
            body=render(
                "pages/findings.html",
                "findings/",
                report=report,
                verdicts=_verdicts(report),
                badges=BADGES,
                claimed=claimed_text,
                counted_value=counted_text,
            ),
            headings=()
            if report is None
            else (
                Heading("scores", "Published scores"),
                Heading("verdicts", "What the verdicts mean"),
                Heading("corrections", "Our own corrections"),
            ),
            wide=True,
        )
        yield Page(
            url="judges/",
            title="Judges on trial",
            description="What published verdicts show about the LLM judges of memory benchmarks.",
            body=render(
                "pages/judges.html",
                "judges/",
                trials=report.trials if report else None,
                vague=labelled_tests(report, site.labels) if report else [],
            ),
            headings=()
            if report is None
            else (
                Heading("test-answers", "Wrong and vague answers"),
                Heading("three-verdicts", "Three verdicts on each answer"),
                Heading("three-judges", "Three judges on the same answers"),
                Heading("overlap", "Verdict and token F1"),
            ),
            wide=True,
        )
        if report:
            content = json.dumps(report.data(), sort_keys=True, ensure_ascii=False, indent=1) + "\n"
            yield Asset("findings.json", content.encode())


def _verdicts(report: FindingsReport | None) -> list[tuple[ClaimVerdict, int]]:
    """Return how many findings have each verdict."""
    counts = Counter(finding.verdict for finding in report.findings) if report else Counter()
    return [(verdict, counts[verdict]) for verdict in ClaimVerdict]
