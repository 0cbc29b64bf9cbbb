"""The table of what systems can do, each cell with its proof: a conformance check, a run, or what the maker states."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.leaderboard.board import WITHDRAWN, BoardRow, RankStatus
from memeval.records.base import Record
from memeval.records.conformance import CheckOutcome
from memeval.records.run import Isolation, Network, SystemIdentity, SystemKind
from memeval.records.submission import Configuration, Submission, configuration_text
from memeval.site.model import text
from memeval.site.model.content import SiteModel
from memeval.site.model.labels import licence_text
from memeval.site.model.products import ProductKind, kind_of
from memeval.site.model.urls import run_url, system_url
from memeval.site.table.overview import SystemRow, told_apart_names
from memeval.site.table.tables import needs
from memeval.toml import read_toml

NONE = Configuration()

FILE = Path(__file__).with_name("capabilities.toml")


class Able(StrEnum):
    TESTED = "yes (tested)"
    SAID = "says so"
    NO = "no"
    FAILS = "fails"
    UNTESTED = "not tested"
    UNSTATED = "not stated"


class Capability(Record):
    """A question of the table, and what answers it."""

    name: str
    title: str
    checks: tuple[str, ...]
    """Names of conformance checks."""
    benchmark: str | None = None
    protocol: str | None = None
    categories: tuple[str, ...] = ()
    """Categories of the benchmark; each item tests the capability."""


class CapabilityFile(Record):
    schema_version: int = 1
    capabilities: tuple[Capability, ...] = Field(min_length=1)


@dataclass(frozen=True)
class AbleCell:
    able: Able
    said: str | None = None
    """What is added to the word, such as ``120 of 120``; alone if the system states a text."""
    proof: str | None = None
    """Address of the proof on the site."""


@dataclass(frozen=True)
class AbleRow(SystemRow):
    caveats: tuple[str, ...]
    """What its configuration says about the answers."""
    cells: Mapping[str, AbleCell]
    """By the title of the capability, the same for all rows."""


NO_ANSWER = (*WITHDRAWN, RankStatus.OVER_ERROR_GATE)
"""Runs that do not say what a system can do. With many failed calls, most of what did not pass was not looked at."""


@cache
def capabilities() -> tuple[Capability, ...]:
    return read_toml(FILE).record(CapabilityFile, {}).capabilities


def capability_rows(site: SiteModel) -> list[AbleRow]:
    """Return what each product and library can do, products first and mocks last.

    They are those that passed through the conformance checks, and those at a vendor's service, which did not run.
    """
    newest: dict[str, BoardRow] = {}
    for row in site.board.runs:
        if not row.is_control and row.run.system.slug in site.conformance:
            newest.setdefault(row.run.system.slug, row)
    ran = {row.run.system.slug for row in site.board.runs}
    hosted = {
        slug: submission
        for group in site.products.groups
        for slug in group.systems
        if slug not in ran and (submission := site.submissions.get(slug)) and submission.hosts and not submission.mock
    }
    said: dict[str, SystemIdentity | Submission] = {slug: row.run.system for slug, row in newest.items()} | hosted
    names = told_apart_names(said.values())
    rows = []
    for slug, system in said.items():
        kind = ProductKind.MOCK if system.mock else kind_of(system)
        if kind is not ProductKind.REFERENCE:
            caveats = (system.configuration or NONE).caveats
            cells = _cells(site, slug, newest[slug]) if slug in newest else _hosted_cells(site, hosted[slug])
            rows.append(AbleRow(slug, *names[slug], kind, caveats, cells))
    return sorted(rows, key=attrgetter("order"))


def differing(rows: Sequence[AbleRow]) -> tuple[list[str], list[str]]:
    """Return the titles of the capabilities in which systems differ, and a phrase for each of the others."""
    words = {title: {(row.cells[title].able, row.cells[title].said) for row in rows} for title in rows[0].cells}
    several = [title for title, found in words.items() if len(found) > 1]
    return several, [f"{title}: {rows[0].cells[title].able.value}" for title in words if title not in several]


def as_rows(rows: Iterable[AbleRow]) -> list[dict[str, Any]]:
    return [
        {
            **row.named,
            "capability": title,
            "answer": cell.able.value,
            "detail": cell.said,
            "proof": cell.proof,
        }
        for row in rows
        for title, cell in row.cells.items()
    ]


def _cells(site: SiteModel, slug: str, newest: BoardRow) -> dict[str, AbleCell]:
    cells = {each.title: _tested(site, slug, each) for each in capabilities()}
    run = newest.run
    shut = run.isolation is Isolation.SANDBOXED and run.network is Network.NONE
    proof, needed = run_url(run.run_id), needs(run)

    def without(is_free: bool) -> AbleCell:
        return AbleCell(Able.NO if not is_free else Able.TESTED if shut else Able.SAID, proof=proof)

    return cells | {
        "No key needed": without(needed.keyless),
        "No network needed": without(needed.local),
        "No LLM needed": without(not run.system.declared_models and not run.system.mock),
        **_stated_cells(site, run.system),
    }


def _hosted_cells(site: SiteModel, system: Submission) -> dict[str, AbleCell]:
    """Return the cells of a system that did not run: what its manifest says."""
    page = site.products.address(system_url(system.slug))
    without_llm = "no llm" in (configuration_text("", "", None, system.configuration) or "").lower()
    return {each.title: AbleCell(Able.UNTESTED) for each in capabilities()} | {
        "No key needed": AbleCell(Able.SAID if all(host.key is None for host in system.hosts) else Able.NO, proof=page),
        "No network needed": AbleCell(Able.NO, proof=page),
        "No LLM needed": AbleCell(Able.SAID if without_llm else Able.NO, proof=page),
        **_stated_cells(site, system),
    }


def _stated_cells(site: SiteModel, system: SystemIdentity | Submission) -> dict[str, AbleCell]:
    product, page = system.product, site.products.address(system_url(system.slug))
    return {
        "Package licence": _stated(licence_text(product) if product and product.licence else None, page),
        "Storage": _stated(product.storage if product else None, page),
    }


def _stated(said: str | None, page: str) -> AbleCell:
    return AbleCell(Able.SAID if said else Able.UNSTATED, said, page)


def _tested(site: SiteModel, slug: str, asked: Capability) -> AbleCell:
    """Return the answer of the checks and runs: a failure first, then a run, then a check."""
    outcomes = {each.outcome: each for each in site.conformance[slug].checks if each.name in asked.checks}
    page = site.products.address(system_url(slug))
    at_check = page if "#" in page else f"{page}#delete"
    run_id, passed, planned, failure = _run(site, slug, asked)
    at_run = f"{run_url(run_id)}#categories"
    if passed < planned:
        return AbleCell(Able.FAILS, f"{planned - passed} of {planned}" + (f": {failure}" if failure else ""), at_run)
    if failed := outcomes.get(CheckOutcome.FAILED):
        return AbleCell(Able.FAILS, text.visible(failed.detail)[:160], at_check)
    if CheckOutcome.DECLARED in outcomes:
        return AbleCell(Able.NO, "says so itself", at_check)
    if planned:
        return AbleCell(Able.TESTED, f"{planned} of {planned}", at_run)
    return AbleCell(Able.TESTED, None, at_check) if CheckOutcome.PASSED in outcomes else AbleCell(Able.UNTESTED)


def _run(site: SiteModel, slug: str, asked: Capability) -> tuple[str, int, int, str]:
    """Return the complete run that tests a capability with the most items, how many passed of how many, and how others
    failed.

    Of runs with equally many, the newest counts. Without a run, all is empty or 0.
    """
    best = "", 0, 0, ""
    for row in site.board.runs:
        run = row.run
        counts = run.coverage.full and row.standing not in NO_ANSWER
        wanted = counts and run.system.slug == slug and run.system.kind is not SystemKind.CONTROL
        if wanted and (run.track.benchmark, run.track.protocol) == (asked.benchmark, asked.protocol):
            scores = [each for each in run.scores.categories if each.name in asked.categories]
            if (planned := sum(each.tally.planned for each in scores)) > best[2]:
                passed = sum(each.tally.correct for each in scores)
                best = run.run_id, passed, planned, site.benchmark_of(run.track).failure(scores)
    return best
