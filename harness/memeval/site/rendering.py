"""Templates: all is escaped but markup, nothing is undefined, and no text from outside is a template."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from memeval.site import svg, text, urls
from memeval.site.assets import assets_root


@cache
def environment() -> Environment:
    """Return the one environment all templates are rendered in."""
    made = Environment(
        loader=FileSystemLoader(assets_root() / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=text.visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "percent": text.percent,
        "signed": text.signed_percent,
        "count": text.count,
        "number": text.number,
        "fraction": text.fraction,
        "seconds": text.seconds,
        "dollars": text.dollars,
        "day": text.day,
        "minute": text.minute,
        "short": text.short,
        "outside": urls.outside,
    }
    made.globals |= {
        "system_url": urls.system_url,
        "run_url": urls.run_url,
        "items_url": urls.items_url,
        "benchmark_url": urls.benchmark_url,
        "track_url": urls.track_url,
        "interval_bar": svg.interval_bar,
        "interval_plot": svg.interval_plot,
        "segment": urls.segment,
    }
    return made


def render(template: str, url: str, **values: Any) -> Markup:
    """Render a page's body.

    Args:
        template: path under ``templates``.
        url: the page's own address, which ``link`` starts from.
        values: what the template shows.
    """
    link = partial(urls.relative, url)
    return Markup(environment().get_template(template).render(link=link, **values))  # noqa: S704 - autoescaped
