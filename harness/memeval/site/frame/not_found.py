"""The page for an address that does not exist, with ways back. It works at any depth, with or without versions."""

from html import escape

from memeval.site.frame.csp import POLICY

SECTIONS = (
    "api",
    "benchmarks",
    "compare",
    "contact",
    "faq",
    "graders",
    "items",
    "judges",
    "ledger",
    "matrices",
    "overall",
    "published",
    "reference",
    "releases",
    "runs",
    "systems",
    "tracks",
    "trade-offs",
    "trends",
)
"""Folders of a site: the folder that contains one of them is the root."""

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 18vh auto 0; max-width: 32rem; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; font-weight: 600; letter-spacing: -0.01em; }
a { color: inherit; }
li { margin: 0.2rem 0; }
"""

SCRIPT = """
const path = location.pathname;
const link = (id) => document.getElementById(id);
const alias = /^(.*?\\/)latest\\/(.*)$/.exec(path);
if (alias) {
  fetch(alias[1] + "versions.json")
    .then((reply) => reply.json())
    .then(([newest]) => location.replace(alias[1] + newest.version + "/" + alias[2] + location.search + location.hash))
    .catch(() => {});
}
const inside = /^(.*?\\/)(?:SECTIONS)\\//.exec(path);
let home = link("home").getAttribute("href");
if (home === "/") home = inside ? inside[1] : alias ? alias[1] : path.endsWith("/") ? "../" : "./";
let words = path.split("/").filter(Boolean).pop() ?? "";
try {
  words = decodeURIComponent(words);
} catch {}
words = words.replace(/\\.[a-z]+$/, "").replace(/[^\\p{L}\\p{N}]+/gu, " ").trim().slice(0, 60);
link("home").href = home;
for (const each of document.querySelectorAll("[data-page]")) each.href = home + each.dataset.page;
link("search").href = home + "?q=" + encodeURIComponent(words);
if (words) link("search").textContent = "Search for “" + words + "”";
link("more").hidden = false;
""".replace("SECTIONS", "|".join(SECTIONS))
"""The script of the page; its digest is in :mod:`memeval.site.frame.csp`."""


def not_found_page(title: str = "memeval", home: str = "/") -> str:
    """Return the page.

    ``home``: path of the site's root; ``/`` if it is not known. A script then finds it in the address.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Page not found - {escape(title)}</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Page not found</h1>
<p>Runs and releases are never removed. Check that the address is complete.</p>
<p><a id="home" href="{escape(home)}">Go to the leaderboard</a></p>
<ul id="more" hidden>
<li><a id="search" href="{escape(home)}">Search the site</a></li>
<li><a data-page="systems/" href="{escape(home)}">All systems</a></li>
<li><a data-page="benchmarks/" href="{escape(home)}">All benchmarks</a></li>
<li><a data-page="faq/" href="{escape(home)}">Questions and answers</a></li>
</ul>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""
