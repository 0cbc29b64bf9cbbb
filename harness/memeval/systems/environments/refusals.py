"""Turns error output of installers into error messages of memeval."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memeval.records.errors import BadInput
from memeval.systems.environments.tools import Installer, ToolFailed
from memeval.systems.output import visible

COMPILE_AGAIN = "Compile the lock again, with all dependencies."
OFFLINE = "Connect to the network, or set a reachable index (PIP_INDEX_URL, UV_DEFAULT_INDEX)."

PYTHON_REFUSALS: tuple[tuple[str, str, str], ...] = (
    (
        r"[Hh]ash mismatch for `(?P<name>[^`]+)`|DO NOT MATCH THE HASHES[^\n]*\n\s*(?P<name2>\S+)",
        "the file of '{name}' does not match its digest in the lock.",
        "Find out why before you compile the lock again.",
    ),
    (
        r"no trusted hash was provided for: `(?P<name>[^`]+)`"
        r"|versions pinned with ==\. These do not:\n\s*(?P<name2>[\w.\[\]-]+)"
        r"|are missing from some requirements[^\n]*\n\s*(?P<name3>[\w.-]+)",
        "the lock does not pin the dependency '{name}'.",
        COMPILE_AGAIN,
    ),
    (
        r"current Python version \([^)]*\) does not satisfy (?P<range>Python\S+)(?:.|\n)*? (?P<name>[\w.-]+==[^\s,]+)"
        r" depends on",
        "'{name}' needs another version of Python ({range}).",
        "Run memeval with this version, or pin another version of the package.",
    ),
    (
        r"(?P<name>[\w.-]+(==\S+)?) has no (usable )?wheels",
        "'{name}' has no wheel for this Python and platform. memeval builds none, because that would run its code.",
        "Pin a version with a wheel.",
    ),
    (
        r"dns error|error sending request|Failed to fetch|NewConnectionError|ConnectTimeout|ProxyError"
        r"|Failed to establish a new connection|Temporary failure in name resolution",
        "the package index cannot be reached, so '{package}' cannot be installed.",
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
        "Check its name and version. memeval builds no wheels, because that would run its code.",
    ),
    (
        r"Cannot install (?P<name>[^\n]+?) because these package"
        r"|you require (?P<name2>[\w.-]+==\S+ and [\w.-]+==\S+?),",
        "{name} are not compatible.",
        COMPILE_AGAIN,
    ),
    (
        r"(you require|depends on) (?P<name>[^\s,]+),\s+we\s+can\s+conclude\s+that\s+your\s+requirements",
        "no version of '{name}' in the package index is compatible.",
        "Check its name and version.",
    ),
)
"""Pattern, message and remedy, the most specific first. ``{name}`` is replaced by the match of the pattern."""

NPM_REFUSALS = {
    "E404": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "ETARGET": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "EINTEGRITY": (
        "the file of '{name}' does not match its integrity in the lock.",
        "Find out why before you make the lock again.",
    ),
    "EUSAGE": (
        "package-lock.json does not match package.json.",
        "Make the lock again with 'npm install --package-lock-only'.",
    ),
}

NPM_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENOTCACHED")


def python_refusal(failure: ToolFailed, tool: Installer, first: str, location: Callable[[str], object]) -> BadInput:
    """Return the error for a failure of uv or pip.

    Args:
        first: the first package of the lock, which is named if the output names none.
        location: returns the file and line of a package by its name.
    """
    output = failure.output
    if "No space left on device" in output:
        return disk_full(location(""))
    for pattern, sentence, remedy in PYTHON_REFUSALS:
        if found := re.search(pattern, output):
            groups = {key: value for key, value in found.groupdict().items() if value}
            name = visible(next((value for key, value in groups.items() if key.startswith("name")), first))
            problem = sentence.format(name=name, package=first, range=visible(groups.get("range", "")))
            return BadInput(problem, where=location(name), remedy=remedy)
    return BadInput(f"{tool} failed at '{first}': {error_line(output)}", where=location(""), remedy=COMPILE_AGAIN)


def npm_refusal(failure: ToolFailed, tool: Installer, where: Path, lock: Mapping[str, Any]) -> BadInput:
    """Return the error for a failure of npm."""
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
    return BadInput(f"{tool} failed: {error_line(output)}", where=where, remedy="Make the lock again.")


def _npm_name(output: str, lock: Mapping[str, Any]) -> str:
    """Return the package at which npm failed. For a wrong file, the output has only the digest."""
    wanted = re.search(r"wanted (sha\d+-\S+)", output)
    if wanted:
        for path, package in lock["packages"].items():
            if wanted[1] in str(package.get("integrity", "")):
                return str(path).rpartition("node_modules/")[2]
    named = re.search(r"'((?:@[\w.-]+/)?[\w.-]+@[^'\s]+)'|for ((?:@[\w.-]+/)?[\w.-]+@\S+?)\.?\s", output)
    return (named[1] or named[2]) if named else "one of its packages"


def disk_full(where: object) -> BadInput:
    return BadInput(
        "the disk is full, so the environment cannot be built.",
        where=where,
        remedy="Free disk space, or set another folder with MEMEVAL_CACHE.",
    )


def error_line(output: str) -> str:
    """Return the line of an installer's output with the error, without control characters."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|cause|npm error|ERROR|npm ERR!)\b", line)]
    line = (errors or lines or ["it printed no reason"])[-1]
    return visible(line if len(line) <= 300 else line[:299] + "…")
