"""Reading errata: a file of the user, or the one in a benchmark's folder."""

import json
from functools import cache
from importlib import resources
from pathlib import Path

from memeval.benchmarks.data import file_bytes, refuse_repeats
from memeval.records.base import Digest, once_each, validated
from memeval.records.benchmark import Errata, ErratumAction
from memeval.records.errors import BadInput

LARGEST = 10_000_000
"""Largest file of errata, in bytes."""


@cache
def shipped_errata(package: str, data_digest: Digest, name: str = "errata.json") -> Errata:
    with resources.as_file(resources.files(package) / name) as path:
        return read_errata(path, data_digest)


def read_errata(path: Path, data_digest: Digest) -> Errata:
    """Read a file of errata.

    Raises ``BadInput``: the file cannot be read or is invalid, lists an item twice, lacks a correction, or is for other
    data.
    """
    text = file_bytes(path, LARGEST, "Name a file of errata.")
    try:
        data = json.loads(text.decode(), object_pairs_hook=once_each)
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start:,}.", where=path, remedy="Save the file as UTF-8.") from None
    except RecursionError:
        raise BadInput("the JSON is nested too deeply.", where=path) from None
    except ValueError as error:
        raise BadInput(f"not valid JSON ({error}).", where=path) from None
    errata = validated(Errata, data, path)
    refuse_repeats((entry.id for entry in errata.entries), "the erratum of", path, "Keep one of them.")
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
