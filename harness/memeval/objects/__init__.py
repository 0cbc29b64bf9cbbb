"""Objects by key, in a folder or in an S3-compatible bucket: what the archive and published sites rest on."""

from memeval.objects.base import BadStore, Headers, ObjectInfo, ObjectStore
from memeval.objects.opening import open_store
from memeval.objects.places import Place, parse_place

__all__ = ["BadStore", "Headers", "ObjectInfo", "ObjectStore", "Place", "open_store", "parse_place"]
