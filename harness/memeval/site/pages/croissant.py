"""Croissant descriptions of data sets: JSON-LD of the specifications Croissant 1.0 and Croissant RAI 1.0 of MLCommons
(http://mlcommons.org/croissant/1.0, http://mlcommons.org/croissant/RAI/1.0).
"""

import json
from dataclasses import dataclass
from typing import Any

from memeval.records.base import digest_bytes

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
CONTEXT |= {
    name: f"cr:{name}"
    for name in (  # noqa: SIM905 - a list would take twenty lines more
        "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
        "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
        "subField transform"
    ).split()
}
"""The JSON-LD context that the specification recommends, in its appendix 1."""

CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]

CSV = "text/csv"
JSON_LINES = "application/jsonlines"


@dataclass(frozen=True)
class DataField:
    name: str
    type: str
    """A type of schema.org: ``Text``, ``Float``, ``Integer``, ``Boolean``."""
    meaning: str


@dataclass(frozen=True)
class DataFile:
    name: str
    link: str
    content: bytes
    encoding: str
    """``CSV`` or ``JSON_LINES``."""
    meaning: str
    fields: tuple[DataField, ...]
    key: str


@dataclass(frozen=True)
class DataSet:
    name: str
    description: str
    url: str
    authors: tuple[str, ...]
    version: str
    date: str
    """UTC date of publication."""
    licence: str | None
    """SPDX id; ``None`` if none is stated."""
    cite_as: str
    files: tuple[DataFile, ...]
    responsible: dict[str, str | list[str]]
    """Values of the responsible-AI vocabulary, by property without its prefix."""


def croissant(data: DataSet) -> bytes:
    """Return the Croissant description of a data set, with the digest of every file."""
    described: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": data.name,
        "conformsTo": CONFORMS_TO,
        "description": data.description,
        "url": data.url,
        "creator": [_creator(name) for name in data.authors],
        "version": data.version,
        "datePublished": data.date,
        "inLanguage": "en",
        "isLiveDataset": False,
        "citeAs": data.cite_as,
        "distribution": [_file(file) for file in data.files],
        "recordSet": [_records(file) for file in data.files],
    }
    if data.licence is not None:
        described["license"] = f"https://spdx.org/licenses/{data.licence}.html"
    described |= {f"rai:{name}": value for name, value in data.responsible.items()}
    return (json.dumps(described, ensure_ascii=True, indent=1, allow_nan=False) + "\n").encode()


def _creator(name: str) -> dict[str, str]:
    family, comma, given = (part.strip() for part in name.partition(","))
    return {"@type": "sc:Person", "name": f"{given} {family}"} if comma else {"@type": "sc:Organization", "name": name}


def _file(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "description": file.meaning,
        "contentUrl": file.link,
        "contentSize": f"{len(file.content)} B",
        "encodingFormat": file.encoding,
        "sha256": digest_bytes(file.content).removeprefix("sha256:"),
    }


def _records(file: DataFile) -> dict[str, Any]:
    name = file.name.partition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": file.meaning,
        "key": {"@id": f"{name}/{file.key}"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{field.name}",
                "name": f"{name}/{field.name}",
                "description": field.meaning,
                "dataType": f"sc:{field.type}",
                "source": {"fileObject": {"@id": file.name}, "extract": {"column": field.name}},
            }
            for field in file.fields
        ],
    }
