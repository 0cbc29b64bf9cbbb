"""Objects by key, in a folder or in an S3-compatible bucket: what the archive and published sites rest on."""

from memeval.objects.base import BadStore, Headers, ObjectInfo, ObjectStore, Place, parse_place
from memeval.objects.folder import FolderStore
from memeval.objects.s3 import BucketStore


def open_store(place: Place) -> ObjectStore:
    return BucketStore(place) if place.folder is None else FolderStore(place.folder)


__all__ = ["BadStore", "Headers", "ObjectInfo", "ObjectStore", "Place", "open_store", "parse_place"]
