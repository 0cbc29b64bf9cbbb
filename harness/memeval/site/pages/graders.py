"""What the graders are worth: the errors of rules and judges, by readers' labels."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memeval.claims.store import file_name
from memeval.judging.rules import RulesJudge
from memeval.records.label import ReaderKind
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.pages.grader_errors import (
    ORDERS,
    differs,
    error_tables,
    grader_name,
    is_lower_bound,
    part_name,
    whole,
)
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


class GradersPage(Publisher):
    """The page *What the graders are worth*, and ``graders.json``."""

    name = "graders"
    order = 47

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        reports = site.labels
        kinds = {reading.kind for report in reports for reading in report.readings}
        yield Page(
            url="graders/",
            title="What the graders are worth",
            description="How often rules and LLM judges grade an answer wrongly, by labels of readers.",
            body=render(
                "pages/graders.html",
                "graders/",
                reports=reports,
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
            headings=(
                Heading("labels", "The labels"),
                *(Heading(report.sample.name, f"Sample {report.sample.name}") for report in reports),
            )
            if reports
            else (),
            wide=True,
        )
        if reports:
            data = [report.data() for report in reports]
            content = json.dumps(data, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
            yield Asset("graders.json", content.encode())
