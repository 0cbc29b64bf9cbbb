"""Verifying a run in the browser: equal, or the number and the file that differ."""

import gzip
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from memeval.grading.scoring import score
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.track import CategoryPlan
from tests.browser.conftest import Change, Visit
from tests.site.conftest import Built

pytestmark = pytest.mark.browser


def run_id(site: Built) -> str:
    return site.runs[0].run.run_id


def grades(site: Built) -> str:
    page = site.read(f"runs/{run_id(site)}/index.html")
    path = next(part for part in page.split('"') if part.endswith("-grades.jsonl.gz"))
    return path[path.index("data/sha256/") :]


def head(site: Built) -> str:
    return f"runs/{run_id(site)}/files/run.json"


def verified(page: Page) -> Locator:
    """Press the button, which removes the last result at once, and return the next one."""
    button = page.get_by_role("button", name="Verify in this browser")
    button.click()
    expect(page.locator(".mv-verdict")).to_be_visible()
    expect(button).to_be_enabled()
    return page.locator(".mv-verified")


def page_of(seen: Visit, site: Built) -> Page:
    """Open the page of a run, unless it is open: each press of its button loads the files again."""
    path = f"runs/{run_id(site)}/"
    return seen.page if seen.page.url == seen.base + path else seen.go(path)


def test_an_honest_run_is_equal_and_its_composite_is_named(wide: Visit, site: Built) -> None:
    result = verified(page_of(wide, site))
    expect(result).to_contain_text("Equal: the files match their digests, and every score follows from the grades.")
    expect(result).to_contain_text("run.json: SHA-256 equals the digest on this page.")
    expect(result).to_contain_text("grades.jsonl: 60 rows, SHA-256 equals the digest in run.json.")
    expect(result).to_contain_text(f"Composite: {site.runs[0].run.scores.composite.value}.")


def test_what_nobody_checked_is_named_beside_the_verdict(wide: Visit, site: Built) -> None:
    claimed = site.runs[2].run.run_id
    result = verified(wide.go(f"runs/{claimed}/"))
    expect(result).to_contain_text("Not checked: The grades: no maintainer reproduced them.")
    expect(verified(page_of(wide, site))).not_to_contain_text("Not checked")


def flipped(row: dict[str, Any]) -> None:
    row["verdict"] = not row["verdict"]


def renamed(row: dict[str, Any]) -> None:
    row["category"] = "made-up"


def with_first_row(change: Callable[[dict[str, Any]], None]) -> Change:

    def changed(data: bytes) -> bytes:
        first, *others = gzip.decompress(data).decode().splitlines()
        row = json.loads(first)
        change(row)
        return gzip.compress("\n".join([json.dumps(row), *others, ""]).encode())

    return changed


def test_a_forged_grade_is_named_with_every_number_that_it_changes(served: Visit, site: Built) -> None:
    served.host.replace(grades(site), with_first_row(flipped))
    result = verified(page_of(served, site))
    expect(result.locator(".mv-verdict")).to_contain_text("Not equal")
    expect(result).to_contain_text("grades.jsonl: SHA-256 differs from the digest in run.json.")
    stated = site.runs[0].run.scores.composite.value
    expect(result).to_contain_text(f"composite › value: run.json says {stated}, the grades give 0.")
    expect(result).to_contain_text("categories › belief-update › tally › correct: run.json says")


def test_a_grade_of_another_category_is_refused_with_a_sentence(served: Visit, site: Built) -> None:
    served.host.replace(grades(site), with_first_row(renamed))
    result = verified(page_of(served, site))
    expect(result).to_contain_text("is in a category that is not planned: made-up.")


def test_a_forged_number_in_run_json_is_named_with_both_values(served: Visit, site: Built) -> None:
    stated = site.runs[0].run.scores.composite.value
    assert stated is not None

    def raised(data: bytes) -> bytes:
        run = json.loads(data)
        run["scores"]["composite"]["value"] = 0.987654321
        return json.dumps(run).encode()

    served.host.replace(head(site), raised)
    result = verified(page_of(served, site))
    expect(result.locator(".mv-verdict")).to_contain_text("Not equal: 2 checks failed.")
    expect(result).to_contain_text("run.json: SHA-256 differs from the digest on this page.")
    expect(result).to_contain_text(f"composite › value: run.json says 0.987654321, the grades give {stated}.")


def test_a_forged_weight_changes_the_composite_and_is_named(served: Visit, site: Built) -> None:
    def heavier(data: bytes) -> bytes:
        run = json.loads(data)
        run["scores"]["categories"][0]["weight"] = 0.9
        return json.dumps(run).encode()

    served.host.replace(head(site), heavier)
    expect(verified(page_of(served, site))).to_contain_text("› weight: run.json says 0.9, the grades give")


@pytest.mark.parametrize(
    ("path", "change", "said"),
    [
        (grades, lambda data: None, "not found (HTTP 404)"),
        (grades, lambda data: data[:-30], "the file is damaged"),
        (grades, lambda data: gzip.decompress(data)[:-30], "grades.jsonl: SHA-256 differs"),
        (head, lambda data: None, "not found (HTTP 404)"),
        (head, lambda data: data[:-30], "run.json: it is not valid JSON."),
        (head, lambda data: b"[]", "is not named in run.json"),
    ],
    ids=["no grades", "cut grades", "cut text of grades", "no run.json", "cut run.json", "another file"],
)
def test_a_missing_or_cut_file_is_named(
    served: Visit, site: Built, path: Callable[[Built], str], change: Change, said: str
) -> None:
    served.host.replace(path(site), change)
    result = verified(page_of(served, site))
    expect(result.locator(".mv-verdict")).to_contain_text("Not equal")
    expect(result).to_contain_text(said)


def test_without_https_nothing_is_called_equal(alone: Visit, site: Built) -> None:
    alone.page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    result = verified(page_of(alone, site))
    expect(result).to_contain_text("Not verified: browsers compute digests only on https pages.")


SCORED = """async ([module, cases]) => {
    const { scored } = await import(module);
    return JSON.stringify(JSON.parse(cases).map(([plan, grades]) => scored(plan, grades)));
}"""


def drawn(seed: int) -> tuple[list[CategoryPlan], list[Grade]]:
    choose = random.Random(seed)
    shared = choose.random() < 0.3
    sizes = {
        name: choose.randint(0 if choose.random() < 0.1 else 1, 12) for name in ("a", "b", "c")[: choose.randint(1, 3)]
    }
    plan = [
        CategoryPlan(
            name=name,
            items=size,
            weight=size / max(1, sum(sizes.values())) if shared else choose.choice([0.0, 0.3, 1 / 3, 0.7]),
            grader="g@1",
            shared=shared,
        )
        for name, size in sizes.items()
    ]
    found = []
    for name, size in sizes.items():
        for number in range(size if choose.random() < 0.8 else choose.randint(0, size)):
            state = choose.choices(list(GradeState), [20, 3, 1, 1, 1, 1, 1, 1])[0]
            measured, wrong = choose.random() < 0.4, state.is_error
            found.append(
                Grade(
                    item_id=f"{name}-{number}",
                    category=name,
                    cluster=f"k{choose.randint(1, choose.choice([1, 5]))}",
                    slices={"hard": choose.choice(["yes", "no"])} if choose.random() < 0.8 else {},
                    grader="g@1",
                    state=state,
                    verdict=None if wrong or measured else choose.random() < 0.5,
                    credit=choose.random() if measured and not wrong else None,
                    flags=tuple(flag for flag in Flag if choose.random() < 0.2),
                    answerable=choose.random() < 0.7,
                    alternates={"other": choose.choice([True, False, None, 0.1, 0.7])} if choose.random() < 0.7 else {},
                    metrics={"m": choose.choice([None, choose.random() * 1e6])} if choose.random() < 0.7 else {},
                )
            )
    choose.shuffle(found)
    return plan, found


def test_scores_are_computed_as_python_computes_them_to_the_last_digit(wide: Visit) -> None:
    cases = [drawn(seed) for seed in range(300)]
    page = wide.go("ledger/")
    rows = [[[category.data() for category in plan], [grade.data() for grade in found]] for plan, found in cases]
    made = json.loads(page.evaluate(SCORED, [f"{wide.base}assets/js/scores.js", json.dumps(rows)]))
    assert made == [score(plan, found).data() for plan, found in cases]
