"""What installers say when they give up, as sentences of memeval's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memeval.records.errors import BadInput
from memeval.systems.environments.tools import Installer, ToolFailed
from memeval.systems.output import visible

COMPILE_AGAIN = "Compile the lock again, with all that it needs."
OFFLINE = "Connect to the network, or name an index that can be reached (PIP_INDEX_URL, UV_DEFAULT_INDEX)."

PYTHON_REFUSALS: tuple[tuple[str, str, str], ...] = (
    (
        r"[Hh]ash mismatch for `(?P<name>[^`]+)`|DO NOT MATCH THE HASHES[^\n]*\n\s*(?P<name2>\S+)",
        "the file of '{name}' does not have the digest that the lock names: it is another file.",
        "Find out why before you compile the lock again.",
    ),
    (
        r"no trusted hash was provided for: `(?P<name>[^`]+)`"
        r"|versions pinned with ==\. These do not:\n\s*(?P<name2>[\w.\[\]-]+)"
        r"|are missing from some requirements[^\n]*\n\s*(?P<name3>[\w.-]+)",
        "'{name}' is needed, and the lock does not pin it.",
        COMPILE_AGAIN,
    ),
    (
        r"current Python version \([^)]*\) does not satisfy (?P<range>Python\S+)(?:.|\n)*? (?P<name>[\w.-]+==[^\s,]+)"
        r" depends on",
        "'{name}' needs another Python ({range}) than this one.",
        "Run memeval with such a Python, or pin a version that fits.",
    ),
    (
        r"(?P<name>[\w.-]+(==\S+)?) has no (usable )?wheels",
        "'{name}' has no wheel for this Python and platform, and memeval builds none: that would run its code.",
        "Pin a version that has one.",
    ),
    (
        r"dns error|error sending request|Failed to fetch|NewConnectionError|ConnectTimeout|ProxyError"
        r"|Failed to establish a new connection|Temporary failure in name resolution",
        "the package index cannot be reached, so '{package}' cannot be had.",
        OFFLINE,
    ),
    (
        r"Because (?P<name>[\w.-]+) was not found in the (package registry|provided)"
        r"|there is no version of (?P<name2>[\w.-]+==[^\s,]+)",
        "there is no '{name}' in the package index.",
        "Check its name and version, and compile the lock again.",
    ),
    (
        r"No matching distribution found for (?P<name>[^\s;]+)",
        "there is no wheel of '{name}' in the package index for this Python and platform.",
        "Check its name and version; memeval builds none, for that would run its code.",
    ),
    (
        r"Cannot install (?P<name>[^\n]+?) because these package"
        r"|you require (?P<name2>[\w.-]+==\S+ and [\w.-]+==\S+?),",
        "{name} do not fit together.",
        COMPILE_AGAIN,
    ),
    (
        r"(you require|depends on) (?P<name>[^\s,]+),\s+we\s+can\s+conclude\s+that\s+your\s+requirements",
        "no version of '{name}' in the package index fits.",
        "Check its name and version.",
    ),
)
"""Pattern, sentence and remedy, the surest first; ``{name}`` is what the pattern found."""

NPM_REFUSALS = {
    "E404": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "ETARGET": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "EINTEGRITY": (
        "the file of '{name}' does not have the integrity that the lock names: it is another file.",
        "Find out why before you make the lock again.",
    ),
    "EUSAGE": (
        "package.json and package-lock.json do not fit together.",
        "Make the lock again with 'npm install --package-lock-only'.",
    ),
}

NPM_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENOTCACHED")


def python_refusal(failure: ToolFailed, tool: Installer, first: str, place: Callable[[str], object]) -> BadInput:
    """Return the sentence for what uv or pip gave up at.

    Args:
        failure: what it wrote.
        tool: which of them.
        first: the first package of the lock, named where nothing else is.
        place: where a package stands, by what the tool calls it.
    """
    output = failure.output
    if "No space left on device" in output:
        return disk_full(place(""))
    for pattern, sentence, remedy in PYTHON_REFUSALS:
        if found := re.search(pattern, output):
            groups = {key: value for key, value in found.groupdict().items() if value}
            name = visible(next((value for key, value in groups.items() if key.startswith("name")), first))
            said = sentence.format(name=name, package=first, range=visible(groups.get("range", "")))
            return BadInput(said, where=place(name), remedy=remedy)
    return BadInput(f"{tool} gave up at '{first}': {decisive(output)}", where=place(""), remedy=COMPILE_AGAIN)


def npm_refusal(failure: ToolFailed, tool: Installer, where: Path, lock: Mapping[str, Any]) -> BadInput:
    """Return the sentence for what npm gave up at.

    Args:
        failure: what it wrote.
        tool: npm.
        where: the lock's file.
        lock: what the lock holds.
    """
    output = failure.output
    code = next(iter(re.findall(r"npm (?:error|ERR!) code (\w+)", output)), "")
    if code == "ENOSPC" or "No space left on device" in output:
        return disk_full(where)
    if code in NPM_OFFLINE:
        return BadInput("the package registry cannot be reached.", where=where, remedy="Connect to the network.")
    if code in NPM_REFUSALS:
        sentence, remedy = NPM_REFUSALS[code]
        name = _npm_name(output, lock)
        return BadInput(sentence.format(name=visible(name)), where=where, remedy=remedy)
    return BadInput(f"{tool} gave up: {decisive(output)}", where=where, remedy="Make the lock again.")


def _npm_name(output: str, lock: Mapping[str, Any]) -> str:
    """Return the package that npm gave up at; of a wrong file it says the digest alone."""
    wanted = re.search(r"wanted (sha\d+-\S+)", output)
    if wanted:
        for path, package in lock["packages"].items():
            if wanted[1] in str(package.get("integrity", "")):
                return str(path).rpartition("node_modules/")[2]
    named = re.search(r"'((?:@[\w.-]+/)?[\w.-]+@[^'\s]+)'|for ((?:@[\w.-]+/)?[\w.-]+@\S+?)\.?\s", output)
    return (named[1] or named[2]) if named else "one of its packages"


def disk_full(where: object) -> BadInput:
    """Return the sentence for a full disk."""
    return BadInput(
        "the disk is full, so its environment cannot be built.",
        where=where,
        remedy="Make room, or name another folder for environments with MEMEVAL_CACHE.",
    )


def decisive(output: str) -> str:
    """Return the line of an installer's output that says what went wrong, without control characters."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|cause|npm error|ERROR|npm ERR!)\b", line)]
    line = (errors or lines or ["it did not say why"])[-1]
    return visible(line if len(line) <= 300 else line[:299] + "…")
