"""The findings on the page *Lifecycle*, reproduced with the products at the versions of the submissions."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.products import product

pytestmark = pytest.mark.products

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "deletion-and-users"
PAGE = (ROOT / "site" / "lifecycle.md").read_text("utf-8")


def printed_on_the_page(command: str) -> list[str]:
    found = re.search(rf"^\$ {re.escape(command)}\n(.*?)```", PAGE, re.M | re.S)
    assert found is not None
    return found[1].splitlines()


@pytest.mark.parametrize(
    ("slug", "script"),
    [
        ("astrocyte", "astrocyte_forget.py"),
        ("mem0-verbatim", "mem0_users.py"),
        ("mcp-memory-service", "mcp_memory_service_stores.py"),
    ],
)
def test_a_script_prints_what_the_page_says(slug: str, script: str) -> None:
    command = [str(product(slug).python), str(EXAMPLES / script)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.splitlines() == printed_on_the_page(f"python {script}")


def test_the_mcp_memory_server_confirms_writes_that_it_loses() -> None:
    path = os.pathsep.join([*map(str, product("mcp-memory").path), os.environ["PATH"]])
    command = ["node", str(EXAMPLES / "mcp_memory_at_once.mjs")]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PATH": path}
    )
    confirmed, kept = ran.stdout.splitlines()
    assert confirmed == printed_on_the_page("node mcp_memory_at_once.mjs")[0] == "confirmed: 20"
    assert 1 <= int(kept.removeprefix("kept: ")) < 20
