"""Reading a file of errata."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from memeval.records.base import Digest, once_each, validated
from memeval.records.benchmark import Errata, ErratumAction
from memeval.records.errors import BadInput

LARGEST = 10_000_000
"""Largest file of errata, in bytes."""


def read_errata(path: Path, data_digest: Digest) -> Errata:
    """Read a file of errata.

    Args:
        path: the file, in JSON.
        data_digest: digest of the data that the errata must be for.

    Raises:
        BadInput: the file cannot be read or is invalid, lists an item twice, lacks a correction, or is for other
            data.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput("this is not a file.", where=path, remedy="Name a file of errata.")
        with path.open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror}).", where=path) from None
    if len(text) > LARGEST:
        raise BadInput(f"the file exceeds the limit of {LARGEST:,} bytes for errata.", where=path)
    try:
        data = json.loads(text.decode(), object_pairs_hook=once_each)
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start:,}.", where=path, remedy="Save the file as UTF-8.") from None
    except RecursionError:
        raise BadInput("the JSON is nested too deeply.", where=path) from None
    except ValueError as error:
        raise BadInput(f"not valid JSON ({error}).", where=path) from None
    errata = validated(Errata, data, path)
    repeated = [name for name, times in Counter(entry.id for entry in errata.entries).items() if times > 1]
    if repeated:
        raise BadInput(f"'{repeated[0]}' has more than one entry.", where=path, remedy="Keep one of them.")
    for entry in errata.entries:
        if entry.action is ErratumAction.REPLACE and not entry.corrected:
            raise BadInput(
                f"'{entry.id}' has the action 'replace' but no 'corrected' answer.",
                where=path,
                remedy="Add 'corrected', or use the action 'exclude'.",
            )
    if f"sha256:{errata.dataset_sha256}" != data_digest:
        raise BadInput(
            f"the errata are for other data: sha256:{errata.dataset_sha256}, but the data is {data_digest}.",
            where=path,
            remedy="Use errata for this data.",
        )
    return errata
