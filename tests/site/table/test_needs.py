"""What a system needs, as the filters of the tables see it."""

from pathlib import Path
from typing import Any

import pytest

from memeval.records.run import HostUse, Run, SystemKind
from memeval.records.submission import Product
from memeval.site.table.tables import Needs, needs, view
from tests.site.factory import ORIGIN, FakeBenchmark, Made, make_run
from tests.site.reading import site_of, submitted

HOST = HostUse(host="api.acme.example", origin="https://api.acme.example")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("results"), Made("acme", "Acme", 0.5), FakeBenchmark()).run


def of(run: Run, **system: Any) -> Run:
    return run.model_copy(update={"system": run.system.model_copy(update=system)})


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
    assert needs(of(run, **system)) == expected


def test_nobody_knows_where_imported_answers_were_made(run: Run) -> None:
    assert needs(run.model_copy(update={"imported": ORIGIN})) == Needs(local=False, keyless=False, open=False)


@pytest.mark.parametrize(
    ("licence", "is_open"),
    [
        ("MIT", True),
        ("MIT License", True),
        ("Apache-2.0", True),
        ("Apache Software License", True),
        ("Apache 2.0: http://www.apache.org/licenses/LICENSE-2.0", True),
        ("BSD-3-Clause", True),
        ("GPLv3 or later", True),
        ("AGPL-3.0-only", True),
        ("Proprietary", False),
        ("Apache-2.0 with Commons Clause", False),
        ("LicenseRef-Acme", False),
        ("SEE LICENSE IN LICENSE", False),
        ("permitted use only", False),
        (None, False),
    ],
)
def test_only_a_product_that_states_an_open_licence_has_one(run: Run, licence: str | None, is_open: bool) -> None:
    product = Product(name="Acme", licence=licence, licence_digest=None if licence else f"sha256:{'0' * 64}")
    assert needs(of(run, product=product)).open is is_open


def test_the_licence_of_the_adapter_does_not_count(tmp_path: Path) -> None:
    submitted(tmp_path / "results", "acme", 'slug = "acme"\nname = "Acme"\nversion = "1"\nlicence = "MIT"\n')
    site = site_of(tmp_path / "results", Made("acme", "Acme", 0.5))
    assert site.submissions["acme"].licence == "MIT"
    (line,) = view(site, site.board.tables[0]).lines
    assert not line.needs.open
