"""The lines of ``memeval verify``: what was not checked is never called ok."""

from memeval.cli.trust import check_data, check_lines
from memeval.evaluation.verify.findings import Check, Finding

PROBLEM = Finding("run.json: track", "is another.")

CHECKS = [
    Check("track", (PROBLEM,)),
    Check("track"),
    Check("contexts"),
    Check("contexts", (), "the data of locomo@1 is not here"),
    Check("contexts", (), "the data of locomo@1 is not here"),
    Check("contexts", (PROBLEM,), "tokens were counted by another tokenizer"),
    Check("matrices"),
    Check("matrices"),
    Check("audits"),
]


def test_each_check_has_a_line_and_each_reason_its_own() -> None:
    assert list(check_lines(CHECKS)) == [
        "track        FAILED: 1 run",
        "             ok: 1 run",
        "contexts     FAILED: 1 run",
        "             ok: 1 run",
        "             not checked in 2 runs: the data of locomo@1 is not here",
        "             not checked in 1 run: tokens were counted by another tokenizer",
        "matrices     ok: 2 matrices",
        "audits       ok: 1 audit",
    ]


def test_machines_get_the_same_counts() -> None:
    reasons = {"the data of locomo@1 is not here": 2, "tokens were counted by another tokenizer": 1}
    assert check_data(CHECKS)[:2] == [
        {"name": "track", "ok": 1, "failed": 1, "not_checked": {}},
        {"name": "contexts", "ok": 1, "failed": 1, "not_checked": reasons},
    ]
