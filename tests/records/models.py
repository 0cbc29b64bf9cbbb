"""All models of files that memeval reads or writes."""

import functools
from collections.abc import Iterator

from memeval.cli.project import file_records, schemas
from memeval.records.base import Record, Stored

exported = functools.cache(schemas)
"""The schemas of all files, by the name of the file: made once, as finding their words takes a while."""


def all_records() -> list[type[Record]]:
    """Return every record of a file of memeval's own, by name; what others wrote is not ours to describe.

    Of two with one name, the second is the one in the schemas: it knows the keys of all benchmarks.
    """
    file_records()  # loads every module that defines one
    return sorted(set(_below(Record)), key=lambda model: (model.__name__, len(model.__mro__)))


def all_stored() -> list[type[Stored]]:
    """Return every record that is a file, or a row of one."""
    return [model for model in all_records() if issubclass(model, Stored)]


def _below(model: type[Record]) -> Iterator[type[Record]]:
    for below in model.__subclasses__():
        if below.__module__.startswith(("memeval.records.", "memeval.keys.")) and below is not Stored:
            yield below
        yield from _below(below)
