"""What is wrong with a page for a person: it is wider than the window, or axe finds a serious barrier."""

from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import AXE, Visit

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours; all others say the same of a page in its other colours."""

SCAN = """async ([script, where, only, every]) => {
    if (!window.axe) await new Promise((loaded, failed) => {
        const one = Object.assign(document.createElement("script"), {src: script, onload: loaded, onerror: failed});
        document.head.append(one);
    });
    const asked = ({impact}) => every || !["minor", "moderate"].includes(impact);
    const without = axe._audit.rules.filter((rule) => !asked(rule)).map(({id}) => [id, {enabled: false}]);
    const options = only.length ? {runOnly: only} : {rules: Object.fromEntries(without)};
    const {violations} = await axe.run(where, {resultTypes: ["violations"], ...options});
    return violations.filter(asked).map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html}) => html.slice(0, 90))]);
}"""
"""Runs axe, which the site serves as a file: to send it to the browser takes longer than to read it there.

Rules of which no violation is serious are left out. ``resultTypes``: of what passes, axe describes one element a rule.
"""

TOO_WIDE = """() => {
    const over = document.documentElement.scrollWidth - window.innerWidth;
    return over <= 0 ? null : [over, [...document.querySelectorAll("main *")].filter((one) => {
        if (one.getBoundingClientRect().right <= window.innerWidth) return false;
        for (let above = one.parentElement; above; above = above.parentElement)
            if (above.tagName !== "HTML" && getComputedStyle(above).overflowX !== "visible") return false;
        return true;
    }).slice(0, 4).map((one) => one.outerHTML.slice(0, 150))];
}"""
"""By how many pixels a page is wider than the window, and the first elements that are."""


def too_wide(page: Page) -> list[str]:
    found: Any = page.evaluate(TOO_WIDE)
    return [f"{page.url}: {found[0]} px too wide: {found[1]}"] if found else []


def inaccessible(seen: Visit, only: tuple[str, ...] = (), *, within: str = "html", lesser: bool = False) -> list[str]:
    """Return what axe calls serious in a part of a page, or also what it does not, by all of its rules or by some."""
    found = seen.page.evaluate(SCAN, [seen.base + AXE, within, only, lesser])
    return [f"{seen.page.url}: {rule}: {elements}" for rule, elements in found]
