"""Findings about products: what a product does, and a short program that shows it without memeval.

They wait for the notice to the product's authors like findings about published scores (``site/notice.md``).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memeval.claims.embargo import waits
from memeval.claims.findings import LARGEST, findings_folder
from memeval.records.errors import BadInput
from memeval.records.finding import ProductFinding, ProductFindingsFile
from memeval.toml import read_toml

FILE, PROGRAMS = "products.toml", "products"
"""The file of findings about products, and the folder with their programs, both in the folder of findings."""

MOST_LINES = 20
"""The most lines of a program: whoever receives the notice should see at once what it does."""


class KnownFinding(NamedTuple):
    finding: ProductFinding
    program: str
    """The text of its program."""


def read_product_findings(results: Path) -> tuple[KnownFinding, ...]:
    """Return the findings about products that belong to a results folder.

    Raises ``BadInput``: the file or a program cannot be read, an id occurs twice, or a program is too long.
    """
    folder = findings_folder(results)
    if not (folder / FILE).exists():
        return ()
    file = read_toml(folder / FILE, LARGEST)
    known: dict[str, KnownFinding] = {}
    for number, finding in enumerate(file.record(ProductFindingsFile).finding):
        if finding.id in known:
            raise BadInput(f"the id '{finding.id}' occurs twice.", where=file.place("finding", number, "id"))
        program = folder / PROGRAMS / finding.program
        if not program.is_file():
            raise BadInput("does not exist.", where=program, remedy=f"Add it, or correct 'program' in {FILE}.")
        try:
            text = program.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadInput("is no readable UTF-8 text.", where=program, remedy="Save the file as UTF-8.") from None
        if len(text.splitlines()) > MOST_LINES:
            raise BadInput(f"has more than {MOST_LINES} lines.", where=program, remedy="Shorten it.")
        known[finding.id] = KnownFinding(finding, text)
    return tuple(known.values())


def waiting(known: Iterable[KnownFinding], day: str | None) -> dict[str, str]:
    """Return why findings wait, by their ids; without those that are public on a day. ``day``: ``None`` for no day."""
    found = ((each.finding.id, waits(each.finding.notice.sent, day)) for each in known)
    return {name: why for name, why in found if why is not None}
