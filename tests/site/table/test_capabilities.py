"""The table "What can it do?": what answers a question, which answer counts, and where its proof is."""

import re
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.conformance import store
from memeval.conformance import CHECKS
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.records.run import HostUse
from memeval.records.submission import Configuration, Product
from memeval.records.track import CategoryPlan
from memeval.site.model.content import SiteModel, read_site
from memeval.site.model.labels import licence_text
from memeval.site.pages.rendering import environment
from memeval.site.table.capabilities import Able, AbleCell, as_rows, capabilities, capability_rows, differing
from tests.site.factory import HOSTILE, make_conformance, shown
from tests.site.reading import submitted
from tests.support.runs import edit_head, make_run, make_track

PASSED, FAILED, DECLARED, NOT_APPLICABLE = CheckOutcome
PLANS = tuple(
    CategoryPlan(name=name, weight=1 / 3, items=10, grader="judged@1") for name in ("forget", "keep-apart", "correct")
)
LIFECYCLE = make_track(benchmark="lifecycle@1", protocol="banks", categories=PLANS)
HOST = HostUse(host="api.acme.example", origin="https://api.acme.example")


def site_of(
    results: Path, checks: dict[str, CheckOutcome], right: int = 10, head: dict[str, Any] | None = None, **system: Any
) -> SiteModel:
    """Return a site with one run of the lifecycle benchmark, and the results of conformance checks."""
    folder = make_run(
        results, "acme", dict.fromkeys(("forget", "keep-apart", "correct"), right), track=LIFECYCLE, **system
    )
    edit_head(folder, **(head or {}))
    found = [
        ConformanceCheck(name=name, title=name, mandatory=False, outcome=of, detail=f"Saw {HOSTILE}", seconds=0.1)
        for name, of in checks.items()
    ]
    store(results, make_conformance(*found))
    return read_site(results)


def cell(site: SiteModel, title: str) -> AbleCell:
    (row,) = capability_rows(site)
    return row.cells[title]


@pytest.mark.parametrize(
    ("outcome", "able"),
    [(PASSED, Able.TESTED), (FAILED, Able.FAILS), (DECLARED, Able.NO), (NOT_APPLICABLE, Able.UNTESTED)],
)
def test_a_check_answers_and_is_the_proof(tmp_path: Path, outcome: CheckOutcome, able: Able) -> None:
    found = cell(site_of(tmp_path, {"forget-bank": outcome}), "Delete a user")
    assert found.able is able
    assert found.proof == (None if able is Able.UNTESTED else "systems/acme/#delete")


@pytest.mark.parametrize(
    ("outcome", "right", "able", "said", "proof"),
    [
        (NOT_APPLICABLE, 10, Able.TESTED, "10 of 10", "runs/"),
        (PASSED, 10, Able.TESTED, "10 of 10", "runs/"),
        (PASSED, 7, Able.FAILS, "3 of 10", "runs/"),
        (FAILED, 7, Able.FAILS, "3 of 10", "runs/"),
        (FAILED, 10, Able.FAILS, None, "systems/acme/#delete"),
    ],
)
def test_a_failure_counts_before_what_passed(
    tmp_path: Path, outcome: CheckOutcome, right: int, able: Able, said: str | None, proof: str
) -> None:
    site = site_of(tmp_path, {"forget-forgets": PASSED, "forget-keeps-others": outcome}, right)
    found = cell(site, "Delete by id")
    assert found.able is able and (found.proof or "").startswith(proof)
    assert said is None or found.said == said


def test_of_several_runs_the_one_with_the_most_items_answers(tmp_path: Path) -> None:
    few = make_track(
        benchmark="lifecycle@1",
        protocol="banks",
        tier="quick",
        categories=tuple(plan.model_copy(update={"items": 2}) for plan in PLANS),
    )
    make_run(tmp_path, "acme", {"forget": 2}, track=few, started="2026-12-02T10:00:00.000+00:00")
    site = site_of(tmp_path, {}, 4)
    assert cell(site, "Delete by id").said == "6 of 10"


def test_a_run_with_many_failed_calls_answers_nothing(tmp_path: Path) -> None:
    make_run(tmp_path, "acme", {"forget": 10}, track=LIFECYCLE, errors=5)
    store(tmp_path, make_conformance())
    assert cell(read_site(tmp_path), "Delete by id") == AbleCell(Able.UNTESTED)


def test_every_category_of_a_capability_counts(tmp_path: Path) -> None:
    plans = tuple(
        CategoryPlan(name=name, weight=1 / 3, items=5, grader="judged@1")
        for name in ("killed-writing", "killed-idle", "killed-searching")
    )
    crashes = make_track(benchmark="operations@1", protocol="durability", categories=plans)
    make_run(tmp_path, "acme", {"killed-writing": 5, "killed-idle": 5, "killed-searching": 3}, track=crashes)
    found = cell(site_of(tmp_path, {}), "Acknowledged texts survive a crash")
    assert (found.able, found.said) == (Able.FAILS, "2 of 15")


@pytest.mark.parametrize(
    ("system", "head", "answers"),
    [
        ({}, {"isolation": "sandboxed", "network": "none"}, (Able.TESTED, Able.TESTED, Able.TESTED)),
        ({}, {"isolation": "files reachable", "network": "open"}, (Able.SAID, Able.SAID, Able.SAID)),
        ({"declared_models": ("some-model",)}, {}, (Able.NO, Able.SAID, Able.NO)),
        ({"hosts": (HOST,)}, {}, (Able.NO, Able.NO, Able.SAID)),
        ({"mock": True}, {"isolation": "sandboxed", "network": "none"}, (Able.TESTED, Able.TESTED, Able.NO)),
    ],
)
def test_what_a_system_needs_is_tested_only_if_it_could_not_have_it(
    tmp_path: Path, system: dict[str, Any], head: dict[str, Any], answers: tuple[Able, ...]
) -> None:
    site = site_of(tmp_path, {"forget-bank": PASSED}, head=head, **system)
    titles = ("No key needed", "No network needed", "No LLM needed")
    assert tuple(cell(site, title).able for title in titles) == answers


def test_what_the_maker_states_is_shown_escaped_with_its_caveats(tmp_path: Path) -> None:
    product = Product(name=shown(HOSTILE)[:40], licence=shown(HOSTILE), storage="one file")
    configuration = Configuration(caveats=("deleted texts stay in its history",))
    site = site_of(tmp_path, {"forget-bank": PASSED}, product=product, configuration=configuration)
    (row,) = rows = capability_rows(site)
    assert row.caveats == ("deleted texts stay in its history",)
    assert row.cells["Package licence"] == AbleCell(Able.SAID, shown(HOSTILE), "systems/acme/")
    (line,) = (each for each in as_rows(rows) if each["capability"] == "Storage")
    assert (line["answer"], line["detail"], line["proof"]) == ("says so", "one file", "systems/acme/")
    titles, same = differing([row, row])
    assert titles == [] and "Delete a user: yes (tested)" in same
    module = environment().get_template("parts/capabilities.html").module
    page = str(module.capability_table(rows, list(row.cells), [], lambda url: url))  # type: ignore[attr-defined]
    assert "<script" not in page and "deleted texts stay in its history" in page
    assert re.search(r'href="runs/[^"]*#categories"[^>]*>yes \(tested\)<', page)


@pytest.mark.parametrize("licence", ["SEE LICENSE IN LICENSE", "See licence in <URL>"])
def test_a_licence_that_only_names_a_file_is_said_in_plain_words(tmp_path: Path, licence: str) -> None:
    product = Product(name="Acme", licence=licence, homepage="https://acme.example/memory")
    (row,) = capability_rows(site_of(tmp_path, {"forget-bank": PASSED}, product=product))
    assert row.cells["Package licence"] == AbleCell(Able.SAID, "own licence file", "systems/acme/")
    module = environment().get_template("parts/system.html").module
    shown = str(module.licence_of(product))  # type: ignore[attr-defined]
    assert "own licence file" in shown and "https://acme.example/memory" in shown and "SEE" not in shown.upper()


@pytest.mark.parametrize(
    ("stated", "plain"),
    [
        ("MIT License", "MIT"),
        ("any-OSI", "any OSI-approved licence"),
        ("Apache 2.0: http://www.apache.org/licenses/LICENSE-2.0", "Apache 2.0"),
        ("Apache-2.0", "Apache-2.0"),
    ],
)
def test_a_licence_is_said_without_the_forms_of_package_metadata(stated: str, plain: str) -> None:
    assert licence_text(Product(name="Acme", licence=stated)) == plain


def test_systems_without_checks_and_reference_systems_have_no_row(tmp_path: Path) -> None:
    make_run(tmp_path, "acme", track=LIFECYCLE)
    assert capability_rows(read_site(tmp_path)) == []
    store(tmp_path, make_conformance())
    caveats = Configuration(caveats=("reference system of the tests",))
    edit_head(
        make_run(tmp_path, "acme", track=LIFECYCLE, started="2026-12-01T10:00:00.000+00:00", configuration=caveats)
    )
    assert capability_rows(read_site(tmp_path)) == []


def service(slug: str, *, key: str = "", model: str = "LLM of the vendor", mock: str = "") -> str:
    return f"""slug = "{slug}"
name = "Far"
version = "1"
{mock}
[[hosts]]
host = "api.far.example"
variable = "FAR_URL"
{key}
[product]
name = "Far {slug}"
licence = "MIT"
[configuration]
model = "{model}"
"""


def test_a_service_that_never_ran_has_the_answers_of_its_manifest(tmp_path: Path) -> None:
    results = tmp_path / "results"
    submitted(results, "keyed", service("keyed", key='key = "FAR_KEY"'))
    submitted(results, "open", service("open", model="no LLM"))
    submitted(results, "played", service("played", mock="mock = true"))
    site_of(results, {"forget-bank": PASSED}, mock=True)
    found = {row.slug: row for row in capability_rows(read_site(results))}
    assert list(found) == ["keyed", "open", "acme"]  # a mock that ran is last, one that did not has no row
    assert [row.kind.value for row in found.values()] == ["product", "product", "mock"]
    titles = ("Delete a user", "No key needed", "No network needed", "No LLM needed", "Package licence")
    answers = {slug: [found[slug].cells[title].able for title in titles] for slug in ("keyed", "open")}
    assert answers["keyed"] == [Able.UNTESTED, Able.NO, Able.NO, Able.NO, Able.SAID]
    assert answers["open"] == [Able.UNTESTED, Able.SAID, Able.NO, Able.SAID, Able.SAID]
    assert found["keyed"].cells["Storage"] == AbleCell(Able.UNSTATED, proof="systems/keyed/")
    assert set(found["keyed"].cells) == set(found["acme"].cells)


def test_the_checks_and_categories_that_answer_exist() -> None:
    known = {check.name for check in CHECKS}
    for each in capabilities():
        assert set(each.checks) <= known
        assert each.checks or each.categories
