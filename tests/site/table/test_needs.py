"""What a system needs, as the filters of the tables see it."""

from __future__ import annotations

from typing import Any

import pytest

from memeval.records.run import HostUse, Run, SystemKind
from memeval.records.submission import Submission
from memeval.site.table.tables import Needs, needs
from tests.site.factory import ORIGIN, FakeBenchmark, Made, make_run

HOST = HostUse(host="api.acme.example", origin="https://api.acme.example")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("results"), Made("acme", "Acme", 0.5), FakeBenchmark()).run


def submitted(licence: str | None) -> Submission:
    return Submission(slug="acme", name="Acme", version="1", licence=licence)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ({}, Needs(local=True, keyless=True, open=False)),
        ({"declared_models": ("some-model",)}, Needs(local=True, keyless=False, open=False)),
        ({"hosts": (HOST,)}, Needs(local=False, keyless=False, open=False)),
        ({"kind": SystemKind.CONTROL}, Needs(local=True, keyless=True, open=True)),
    ],
)
def test_hosts_and_models_say_where_a_system_runs_and_whether_it_needs_a_key(
    run: Run, system: dict[str, Any], expected: Needs
) -> None:
    assert needs(run.model_copy(update={"system": run.system.model_copy(update=system)}), None) == expected


def test_nobody_knows_where_imported_answers_were_made(run: Run) -> None:
    found = needs(run.model_copy(update={"imported": ORIGIN}), submitted("MIT"))
    assert found == Needs(local=False, keyless=False, open=True)


@pytest.mark.parametrize(
    ("licence", "is_open"),
    [
        ("MIT", True),
        ("Apache-2.0", True),
        ("Proprietary", False),
        ("LicenseRef-Acme", False),
        ("", False),
        (None, False),
    ],
)
def test_a_licence_is_open_unless_it_is_proprietary_or_missing(run: Run, licence: str | None, is_open: bool) -> None:
    assert needs(run, submitted(licence)).open is is_open
