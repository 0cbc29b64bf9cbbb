"""Where the files are: in the layout that is documented, in the one that was released, or side by side."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.data import data_folder
from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.records.errors import BadInput

FOLDER = "memorycd"
"""What its folder is called below that of all data."""

NAMES = tuple(
    folder + name + ending
    for folder, name in (
        ("data/", "cross_domain"),
        ("users/", "cross_domain_users_sampled"),
        ("", "cross_domain"),
        ("", "cross_domain_users_sampled"),
    )
    for ending in (".jsonl", ".jsonl.gz")
)
"""What the file of users is called below the folder of the data."""


def users_file(path: Path | None) -> Path | None:
    """Return the file of users; ``None`` where there is none.

    Args:
        path: the file, its folder, or the folder of all data; ``None`` for memeval's own data folder.

    Raises:
        BadInput: there are several.
    """
    if path is not None and not path.is_dir():
        return path if path.exists() else None
    roots = [data_folder() / FOLDER] if path is None else [path, path / FOLDER]
    found = [root / name for root in roots for name in NAMES if (root / name).is_file()]
    if len(found) > 1:
        raise BadInput(
            f"there are several files of users: {', '.join(str(each.relative_to(roots[0])) for each in found)}.",
            where=roots[0],
            remedy="Name the file itself with --data.",
        )
    return found[0] if found else None


def metadata_files(users: Path) -> dict[str, Path]:
    """Return the files of metadata that there are, by domain in the order of the domains.

    They are looked for below ``meta`` and ``metadata`` beside the file of users or one folder up, and right beside it;
    ``.jsonl.gz`` goes before ``.jsonl``.

    Args:
        users: the file of users.
    """
    here = users.resolve().parent
    folders = [root / name for root in (here, here.parent) for name in ("meta", "metadata")]
    found = {}
    for domain in DOMAINS:
        names = (folder / f"meta_{domain}{end}" for folder in [*folders, here] for end in (".jsonl.gz", ".jsonl"))
        path = next((each for each in names if each.is_file()), None)
        if path is not None:
            found[domain] = path
    return found
