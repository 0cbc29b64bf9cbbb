"""Finds and reads the released files of users, plain or gzip, and compares them with the release."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from memeval.benchmarks.data import data_folder, git_object, packed_or_plain, unpacked
from memeval.records.base import Digest, Record, digest_bytes, validated
from memeval.records.errors import BadInput

FOLDER = "lifebench"

QUESTIONS = "QA/QA_clean.json"

LARGEST_FILE_BYTES = 256 << 20
"""Largest accepted file, unpacked. The largest released one has about 5 MB."""

_PARENTS = ("", "data_en", "life_bench_data/data_en")


class ReleasedUser(Record):
    name: str
    objects: dict[str, str]
    """Git object name (SHA-1) of each released file, by its path in the user's folder."""

    def record_lists(self) -> dict[str, str]:
        return {Path(path).stem: path for path in self.objects if path != QUESTIONS}


@cache
def released_users() -> dict[str, ReleasedUser]:
    path = resources.files(__package__) / "users.json"
    return {user: validated(ReleasedUser, raw, path) for user, raw in from_json(path.read_bytes()).items()}


@dataclass(frozen=True)
class UserFiles:
    user: str
    folder: Path
    digests: dict[str, Digest]
    """Digest of the unpacked bytes of each file, by its path in the folder."""
    released: bool

    def rows(self, path: str) -> list[dict[str, Any]]:
        """Return the objects of a file, a JSON list.

        Raises ``BadInput``: the file is invalid, or changed since it was first read.
        """
        file = _existing(self.folder / path)
        data = unpacked_file(file)
        if digest_bytes(data) != self.digests[path]:
            raise BadInput("the file changed during the run.", where=file, remedy="Start again.")
        try:
            rows = from_json(data, allow_inf_nan=False)
        except ValueError as error:
            raise BadInput(f"not valid JSON ({error}).", where=file, remedy=_RESTORE) from None
        if not isinstance(rows, list):
            raise BadInput("expected a JSON list.", where=file, remedy=_RESTORE)
        wrong = next((number for number, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
        if wrong is not None:
            raise BadInput(f"entry {wrong} is not a JSON object.", where=file, remedy=_RESTORE)
        return rows


_RESTORE = "Restore the released file."


def folder_of_users(path: Path | None) -> Path | None:
    """Return the folder with one folder per user; ``None`` if absent.

    ``path``: that folder, a folder above it, or a copy of the upstream repository; ``None`` for memeval's data folder.
    """
    roots = [data_folder() / FOLDER] if path is None else [path, path / FOLDER]
    candidates = [root / parent for root in roots for parent in _PARENTS]
    return next((each for each in candidates if any((each / user).is_dir() for user in released_users())), None)


def is_complete(path: Path | None, users: Sequence[str]) -> bool:
    folder = folder_of_users(path)
    return folder is not None and all(
        packed_or_plain(folder / user / each) is not None for user in users for each in released_users()[user].objects
    )


def read_user(folder: Path, user: str) -> UserFiles:
    objects = released_users()[user].objects
    digests, equal = {}, True
    for path, name in objects.items():
        data = unpacked_file(_existing(folder / user / path))
        digests[path] = digest_bytes(data)
        equal = equal and git_object(data) == name
    return UserFiles(user, folder / user, digests, equal)


def _existing(path: Path) -> Path:
    file = packed_or_plain(path)
    if file is None:
        raise BadInput("file not found.", where=path, remedy="Each user needs the questions and all nine record lists.")
    return file


def unpacked_file(file: Path) -> bytes:
    return unpacked(file, LARGEST_FILE_BYTES, _RESTORE)
