"""How to cite a board: a ``CITATION.cff`` in the Citation File Format 1.2.0, and metadata for a deposit at Zenodo."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import yaml

from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import BenchmarkInfo, CitedWork
from memeval.site.model.content import SiteModel
from memeval.site.model.files import lean
from memeval.site.model.text import percent
from memeval.site.model.urls import run_url

MESSAGE = (
    "Cite the benchmarks whose scores you use first: they are the first entries under references. Then cite this work."
)


@dataclass(frozen=True)
class Citation:
    title: str
    authors: tuple[str, ...]
    """As in :class:`~memeval.records.benchmark.CitedWork`; at least one."""
    abstract: str
    kind: str
    works: tuple[CitedWork, ...]
    version: str | None = None
    date: str | None = None
    """UTC date of its release, ``2026-11-22``; ``None`` before a release."""
    licence: str | None = None
    """SPDX id; ``None`` if no licence is stated."""
    repository: str | None = None


def works_of(infos: Iterable[BenchmarkInfo]) -> tuple[CitedWork, ...]:
    return tuple(dict.fromkeys(work for info in infos for work in info.works))


def citation_file(citation: Citation) -> bytes:
    """Return a ``CITATION.cff``. The references are on top, since they are to be cited first."""
    data: dict[str, Any] = {"cff-version": "1.2.0", "message": MESSAGE}
    if citation.works:
        data["references"] = [_reference(work) for work in citation.works]
    data |= {
        "title": citation.title,
        "abstract": citation.abstract,
        "type": citation.kind,
        "authors": [_author(name) for name in citation.authors],
        "version": citation.version,
        "date-released": citation.date,
        "license": citation.licence,
        "repository-code": citation.repository,
    }
    return yaml_text(lean(data))


def yaml_text(data: object) -> bytes:
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110).encode()


def zenodo_metadata(citation: Citation) -> bytes:
    """Return the metadata of a deposit, in the format of Zenodo's ``.zenodo.json``.

    Zenodo reads the description as HTML, so it is escaped.
    """
    data = {
        "title": citation.title if citation.version is None else f"{citation.title}, release {citation.version}",
        "upload_type": citation.kind,
        "description": f"<p>{escape(citation.abstract)}</p>",
        "creators": [{"name": name} for name in citation.authors],
        "version": citation.version,
        "publication_date": citation.date,
        "access_right": "open",
        "license": citation.licence,
        "keywords": ["benchmark", "evaluation", "leaderboard", "memory", "LLM agents"],
        "references": [reference_text(work) for work in citation.works],
        "related_identifiers": [
            {"identifier": work.doi or work.url, "relation": "isDerivedFrom"} for work in citation.works
        ],
        "notes": MESSAGE,
    }
    known = {key: value for key, value in data.items() if value not in (None, [])}
    return (json.dumps(known, ensure_ascii=True, indent=1, sort_keys=True) + "\n").encode()


def reference_text(work: CitedWork) -> str:
    """Return a work as one line: authors, title, venue and year, address."""
    dated = " ".join(part for part in (work.venue, None if work.year is None else str(work.year)) if part)
    if work.venue and work.year is not None and str(work.year) in work.venue:
        dated = work.venue
    where = f"https://doi.org/{work.doi}" if work.doi else work.url
    return ". ".join(part for part in ("; ".join(work.authors), work.title, dated, where) if part)


def bibtex(key: str, fields: Mapping[str, str | None]) -> str:
    """Return an entry of the kind ``misc``; text from outside cannot end it. ``None`` leaves a field out."""
    lines = [f"  {name} = {{{_tex(value)}}}" for name, value in fields.items() if value is not None]
    return f"@misc{{{re.sub(r'[^A-Za-z0-9.-]+', '-', key)},\n" + ",\n".join(lines) + "\n}"


def _tex(text: str) -> str:
    plain = "".join(each if each.isprintable() and each not in "\\{}^~" else " " for each in text)
    return re.sub(r"([&%$#_])", r"\\\1", plain)


def row_bibtex(site: SiteModel, benchmark: str, row: BoardRow) -> str:
    """Return an entry that cites one score: what ran, its score and interval, its run and the digest of its files."""
    run, board = row.run, site.settings.title
    score = run.scores.composite
    ends = f" [{percent(score.interval.low)}, {percent(score.interval.high)}]" if score.interval else ""
    value = "no score" if score.value is None else f"{percent(score.value)} %{ends}"
    day = site.release.date if site.release else run.timing.started[:10]
    return bibtex(
        f"memeval-{site.version or day}-{run.system.slug}-{run.track_id}",
        {
            "title": f"{run.system.configured or f'{run.system.name} {run.system.version}'} on {benchmark}: {value}",
            "author": " and ".join(site.settings.authors) or f"The authors of {board}",
            "year": day[:4],
            "howpublished": f"{board}, {f'release {site.version}' if site.version else f'board of {day}'}",
            "url": None if site.address is None else site.address + run_url(run.run_id),
            "note": f"Run {run.run_id}, track {run.track_id}, {row.folder.digest}",
        },
    )


def _reference(work: CitedWork) -> dict[str, Any]:
    return lean(
        {
            "type": work.kind.value,
            "title": work.title,
            "authors": [_author(name) for name in work.authors],
            "year": work.year,
            "conference": None if work.venue is None else {"name": work.venue},
            "doi": work.doi,
            "url": work.url,
            "commit": work.commit,
        }
    )


def _author(name: str) -> dict[str, str]:
    family, comma, given = name.partition(",")
    if not comma:
        return {"name": name}
    return {"family-names": family.strip(), "given-names": given.strip()}
