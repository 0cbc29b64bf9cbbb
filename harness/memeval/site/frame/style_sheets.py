"""The style sheets of a site: those of Material, on which our own are built, and the hand-written ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.site.model.files import Asset

STYLE_SHEETS = ("assets/memeval.css", "assets/frame.css", "assets/trends.css", "assets/compare.css")
"""Our own, in the order of a page."""

_FOLDER = Path("assets", "stylesheets")


@cache
def theme_style_sheets() -> Sequence[Asset]:
    """Return Material's style sheets for text and for colours, unchanged.

    Raises:
        BadInput: a file is missing.
    """
    spec = find_spec("material")
    folder = Path(spec.origin).parent / "templates" / _FOLDER if spec is not None and spec.origin else Path()
    found = [path for name in ("main", "palette") for path in folder.glob(f"{name}.*.min.css")]
    if len(found) != 2:
        raise BadInput(
            "Material's style sheets are missing.",
            where=folder,
            remedy="Install mkdocs-material again, in the version that memeval names.",
        )
    return tuple(Asset((_FOLDER / path.name).as_posix(), path) for path in found)
