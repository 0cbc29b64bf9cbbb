"""Reading a file of errata."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from memeval.records.base import Digest, once_each, validated
from memeval.records.errata import Errata, ErratumAction
from memeval.records.errors import BadInput

LARGEST = 10_000_000
"""A file of more bytes is no file of errata."""


def read_errata(path: Path, data_digest: Digest) -> Errata:
    """Read a file of errata.

    Args:
        path: the file, in JSON.
        data_digest: the data it must speak of.

    Raises:
        BadInput: it cannot be read, is no errata, names an item twice, lacks what a replacement needs, or speaks of
            other data.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput("this is no file.", where=path, remedy="Name a file of errata.")
        with path.open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"the errata cannot be read ({error.strerror}).", where=path) from None
    if len(text) > LARGEST:
        raise BadInput(f"the file has more than {LARGEST:,} bytes and is no file of errata.", where=path)
    try:
        data = json.loads(text.decode(), object_pairs_hook=once_each)
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start:,}.", where=path, remedy="Save the file as UTF-8.") from None
    except RecursionError:
        raise BadInput("nested too deep to be errata.", where=path) from None
    except ValueError as error:
        raise BadInput(f"not valid JSON ({error}).", where=path) from None
    errata = validated(Errata, data, path)
    twice = [name for name, times in Counter(entry.id for entry in errata.entries).items() if times > 1]
    if twice:
        raise BadInput(f"'{twice[0]}' stands there more than once.", where=path)
    for entry in errata.entries:
        if entry.action is ErratumAction.REPLACE and not entry.corrected:
            raise BadInput(f"'{entry.id}' is to be replaced, and 'corrected' does not say by what.", where=path)
    if f"sha256:{errata.dataset_sha256}" != data_digest:
        raise BadInput(
            f"these errata are of other data: sha256:{errata.dataset_sha256}, and what is here is {data_digest}.",
            where=path,
        )
    return errata
