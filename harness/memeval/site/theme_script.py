"""The theme's script, changed to load the search index only when someone searches.

The theme loads the index, the text of all pages, on every page: to prepare a search, and to highlight the words of a
search result. Here the first waits for the search field, and the second for an address of a search result.
"""

from __future__ import annotations

import re

BUNDLE = re.compile(r"assets/javascripts/bundle\.[0-9a-f]+\.min\.js")
"""Path of the theme's script in a site."""

_CHANGES = (
    (re.compile(r'location\.protocol!=="file:"'), "!1"),
    (re.compile(r'(=>\w+\("search\.highlight"\))(\?\w+\(e,\{index\$:)'), r"\1&&/[?&]h=/.test(location.search)\2"),
)


def with_search_on_demand(script: str) -> str:
    """Return the theme's script with a search index that loads on demand.

    Raises:
        ValueError: the script is not the one that this memeval knows.
    """
    for pattern, replacement in _CHANGES:
        script, count = pattern.subn(replacement, script)
        if count != 1:
            raise ValueError(f"the theme's script has changed: {pattern.pattern!r} occurs {count} times, not once.")
    return script
