"""The page *Freshness*: how many days before the newest run of the board each system ran last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from memeval.records.run import Run, SystemKind
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page
from memeval.site.model.urls import system_url
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render_text

BODY = """
<h1>Freshness</h1>
<p>Days between the newest run of a system and the newest run of this board.</p>
<div class="mv-scroll" role="region" aria-label="Freshness" tabindex="0">
<table class="mv-plain-table">
<thead><tr><th>System</th><th>Days</th></tr></thead>
<tbody>
{% for name, address, days in lines %}
<tr><td><a href="{{ link(address) }}"><bdi>{{ name }}</bdi></a></td><td>{{ days }}</td></tr>
{% endfor %}
</tbody>
</table>
</div>
"""


class FreshnessPage(Publisher):
    """The page, and its numbers as JSON."""

    name = "freshness"
    order = 10
    title = "Freshness"

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        runs = [row.run for row in site.board.runs if row.run.system.kind is not SystemKind.CONTROL]
        newest = {slug: max(run.timing.ended for run in runs if run.system.slug == slug) for slug in slugs(runs)}
        last = max(newest.values(), default="")
        days = {slug: (moment(last) - moment(ended)).days for slug, ended in newest.items()}
        names = {run.system.slug: run.system.name for run in runs}
        lines = [
            (names[slug], system_url(slug), number) for slug, number in sorted(days.items(), key=lambda item: item[1])
        ]
        yield Page(
            url="freshness/",
            title="Freshness",
            description="How old the newest run of each system is.",
            body=render_text(BODY, "freshness/", lines=lines),
        )
        yield Asset("freshness/days.json", json.dumps(days, indent=1).encode())


def slugs(runs: Iterable[Run]) -> list[str]:
    return sorted({run.system.slug for run in runs})


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
