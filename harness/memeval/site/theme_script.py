"""The theme's script, changed to do less when a page loads.

- It loads the search index, the text of all pages, on every page: to prepare a search, and to highlight the words of a
  search result. Here the first waits for the search field, and the second for an address of a search result.
- It marks a switch of colours on every page, although the page has its colours already. Each mark computes the style of
  the whole page again, which is half of the longest task of a page with a large table. Here a later switch is marked.
- It adds a `color-scheme` element to every page and then fills it. Each computes the style of the whole page again. A
  page without the element is light: here only another scheme adds it, already filled.
- It prepares each link of a page for previews, which this site does not have. Here only links that ask for one.
- It makes all its parts work in one long task, in which the page does not answer. Here each part has a task of its own.
"""

from __future__ import annotations

import re

BUNDLE = re.compile(r"assets/javascripts/bundle\.[0-9a-f]+\.min\.js")
"""Path of the theme's script in a site."""

_CHANGES = (
    (re.compile(r'location\.protocol!=="file:"'), "!1"),
    (re.compile(r'(=>\w+\("search\.highlight"\))(\?\w+\(e,\{index\$:)'), r"\1&&/[?&]h=/.test(location.search)\2"),
    (
        re.compile(r'(document\.body\.setAttribute\("data-md-color-switching",""\))'),
        r'document.readyState==="complete"&&\1',
    ),
    (re.compile(r'(let (\w+)=\w+\("meta",\{name:"color-scheme"\}\));document\.head\.appendChild\(\2\)'), r"\1"),
    (
        re.compile(r"return (\w+)\.content=(\w+)\.colorScheme,"),
        r'return(\1.isConnected||\2.colorScheme!=="light")&&(\1.content=\2.colorScheme,document.head.append(\1)),',
    ),
    (re.compile(r'(\.\.\.\w+\()"a"(,e\)\.map\()'), r'\1"a[data-preview]"\2'),
    (
        # `et` is subscribeOn of RxJS and `pe` its asyncScheduler: the pattern looks for their code.
        re.compile(
            r"\A(?=.*function et\(e,t\)\{return t===void 0&&\(t=0\),\w+\(function\(r,o\)\{o\.add\(e\.schedule\()"
            r"(?=.*function \w+\(e,t\)\{return t===void 0&&\(t=pe\))"
            r"(.*,\$s=H\(\(\)=>L\()(\.\.\.me\(.*?)\)\),Ki=",
            re.DOTALL,
        ),
        r"\1...[\2].map(e=>e.pipe(et(pe))))),Ki=",
    ),
)


def lightened(script: str) -> str:
    """Return the theme's script with less to do when a page loads.

    Raises:
        ValueError: the script is not the one that this memeval knows.
    """
    for pattern, replacement in _CHANGES:
        script, count = pattern.subn(replacement, script)
        if count != 1:
            raise ValueError(f"the theme's script has changed: {pattern.pattern!r} occurs {count} times, not once.")
    return script
