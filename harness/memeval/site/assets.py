"""The folder of hand-written pages, templates and the MkDocs configuration, in the package or in the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import memeval
from memeval.records.errors import BadInput


@cache
def assets_root() -> Path:
    """Return the folder with ``mkdocs.yml``, ``site`` and ``templates``.

    Raises:
        BadInput: neither the package nor a checkout contains them.
    """
    package = Path(memeval.__file__).resolve().parent
    for root in (package / "_assets", package.parents[1]):
        if (root / "mkdocs.yml").is_file() and (root / "templates").is_dir():
            return root
    raise BadInput("the site's templates are not installed with memeval.", remedy="Install memeval again.")
