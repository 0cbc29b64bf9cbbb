"""Finds the files: in the documented layout, in the released one, or side by side."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.data import data_folder
from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.records.errors import BadInput

FOLDER = "memorycd"
"""Name of its folder in the data folder."""

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
"""Possible paths of the user file in the folder of the data."""


def users_file(path: Path | None) -> Path | None:
    """Return the user file, or ``None``.

    Args:
        path: the file, its folder, or the folder of all data; ``None`` for the data folder of memeval.

    Raises:
        BadInput: there are several user files.
    """
    if path is not None and not path.is_dir():
        return path if path.exists() else None
    roots = [data_folder() / FOLDER] if path is None else [path, path / FOLDER]
    found = [root / name for root in roots for name in NAMES if (root / name).is_file()]
    if len(found) > 1:
        raise BadInput(
            f"found several user files: {', '.join(str(each.relative_to(roots[0])) for each in found)}.",
            where=roots[0],
            remedy="Name one of them with --data.",
        )
    return found[0] if found else None


def metadata_files(users: Path) -> dict[str, Path]:
    """Return the metadata files that exist, by domain in the order of the domains.

    Looks in the folders ``meta`` and ``metadata`` next to the user file or one level up, then next to the user file.
    ``.jsonl.gz`` wins over ``.jsonl``.

    Args:
        users: the user file.
    """
    folder_of_users = users.resolve().parent
    folders = [root / name for root in (folder_of_users, folder_of_users.parent) for name in ("meta", "metadata")]
    found = {}
    for domain in DOMAINS:
        names = (
            folder / f"meta_{domain}{end}" for folder in [*folders, folder_of_users] for end in (".jsonl.gz", ".jsonl")
        )
        path = next((each for each in names if each.is_file()), None)
        if path is not None:
            found[domain] = path
    return found
