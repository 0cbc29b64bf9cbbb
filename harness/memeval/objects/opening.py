"""Opens the store that a place names."""

from __future__ import annotations

from memeval.objects.base import ObjectStore
from memeval.objects.folder import FolderStore
from memeval.objects.places import Place
from memeval.objects.s3 import BucketStore


def open_store(place: Place) -> ObjectStore:
    """Return the store of a place; nothing is created or sent yet."""
    return BucketStore(place) if place.folder is None else FolderStore(place.folder)
