"""Stored audits of judges, in folders under ``results/audits``."""

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from memeval.archive.rows import indented, pack, read_head, read_rows
from memeval.records.audit import Audit, Probe
from memeval.records.base import Digest, Stored, digest_bytes
from memeval.records.call import Call
from memeval.records.errors import BadInput
from memeval.storage import listed, writable, write_whole

AUDITS = "audits"

PROBES, JUDGMENTS = "probes.jsonl", "judgments.jsonl"

_PART = ".part"

_PLAIN = re.compile(r"[a-z0-9]+(:[a-z0-9]([a-z0-9.-]*[a-z0-9])?)?@[0-9]+")


def judge_slug(name: str) -> str:
    if len(name) <= 80 and _PLAIN.fullmatch(name):
        return re.sub("[:@]", "-", name)
    readable = re.sub(r"[^a-z0-9.]+", "-", name.lower())[:60].strip("-.") or "judge"
    return f"{readable}_{digest_bytes(name.encode('utf-8', 'replace'))[7:19]}"


@dataclass(frozen=True)
class AuditFolder:
    path: Path

    HEAD: ClassVar[str] = "audit.json"

    @cached_property
    def head_bytes(self) -> bytes:
        return read_head(self.path / self.HEAD, missing="Restore the file.")

    @property
    def digest(self) -> Digest:
        return digest_bytes(self.head_bytes)

    @cached_property
    def audit(self) -> Audit:
        return Audit.parse(self.head_bytes, self.path / self.HEAD)

    def file(self, name: str) -> Path:
        return self.path / f"{name}.gz"

    def probes(self) -> Iterator[Probe]:
        return read_rows(self.file(PROBES), Probe)

    def judgments(self) -> Iterator[Call]:
        """Yield the calls to a model judge; empty for the rule set."""
        return read_rows(self.file(JUDGMENTS), Call) if JUDGMENTS in self.audit.files else iter(())


def stored_audits(results: Path) -> list[AuditFolder]:
    heads = listed(results, f"{AUDITS}/*/*/*/{AuditFolder.HEAD}")
    return [AuditFolder(head.parent) for head in heads if head.parent.suffix != _PART]


def write_audit(results: Path, audit: Audit, probes: Iterable[Probe], judgments: Iterable[Call] = ()) -> AuditFolder:
    """Store an audit atomically.

    ``audit``: the audit; this function sets its ``files``. ``judgments``: the calls to a model judge; none for the rule
    set. Raises ``BadInput`` if an audit with that id exists already, or the folder cannot be written.
    """
    judged = list(judgments)
    rows: dict[str, Iterable[Stored]] = {PROBES: probes} | ({JUDGMENTS: judged} if judged else {})
    packed = {name: pack(records) for name, records in rows.items()}
    audit = audit.model_copy(update={"files": {name: digest for name, (_data, digest) in packed.items()}})
    folder = results / AUDITS / audit.benchmark.partition("@")[0] / judge_slug(audit.judge) / audit.audit_id
    files = {f"{name}.gz": data for name, (data, _digest) in packed.items()}
    if folder.exists():
        raise BadInput("already stored.", where=folder, remedy="Stored files are never changed. Run the command again.")
    part = folder.with_name(folder.name + _PART)
    with writable(folder):
        if part.exists():  # left by a process that was killed
            shutil.rmtree(part)
        part.mkdir(parents=True)
        for name, data in (files | {AuditFolder.HEAD: indented(audit.data())}).items():
            write_whole(part / name, data)
        part.rename(folder)
    return AuditFolder(folder)
