"""Finds the archive of a board: ``MEMEVAL_ARCHIVE``, or the section ``[archive]`` of ``memeval.toml``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from memeval.objects import ObjectStore, Place, open_store, parse_place
from memeval.records.errors import BadInput
from memeval.settings import SETTINGS, read_settings

ARCHIVE, DISABLE = "MEMEVAL_ARCHIVE", "MEMEVAL_ARCHIVE_DISABLE"

CONFIGURE = f"Name it with --to or {ARCHIVE}, or as 'to' in section [archive] of {SETTINGS}."


def board_of(results: Path) -> Path:
    return results.absolute().parent


def is_disabled() -> bool:
    return os.environ.get(DISABLE, "") not in ("", "0")


def archive_place(results: Path, to: str | None = None) -> Place | None:
    settings = read_settings(board_of(results)).archive
    named = to or os.environ.get(ARCHIVE)
    if named or settings.to is None:
        place = parse_place(named, endpoint=settings.endpoint, region=settings.region) if named else None
    else:
        place = parse_place(settings.to, endpoint=settings.endpoint, region=settings.region)
        if place.folder is not None:
            place = replace(place, folder=board_of(results) / place.folder)
    return place


def open_archive(results: Path, to: str | None = None, *, to_read: bool = False) -> ObjectStore:
    place = archive_place(results, to)
    if place is None:
        raise BadInput("no archive is configured.", where=board_of(results), remedy=CONFIGURE)
    if to_read and place.folder is not None and not place.folder.is_dir():
        raise BadInput(
            "there is no archive here.", where=place.folder, remedy="Correct its name, or push runs into it first."
        )
    return open_store(place)
