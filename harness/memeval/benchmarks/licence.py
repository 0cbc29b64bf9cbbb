"""The licence of a benchmark's data: shown before the first download, accepted once."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memeval.benchmarks.data import data_folder
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.storage import write_whole

SAYS = {
    "Apache-2.0": "Use, change and share it, with the licence and notices kept and changes marked. No warranty.",
    "MIT": "Use, change and share it, with the notice kept. No warranty.",
    "CC-BY-NC-4.0": "Use, change and share it, with credit to its authors, but not for profit. No warranty.",
    "CC-BY-4.0": "Use, change and share it, with credit to its authors. No warranty.",
}
"""Common licences in one line, by SPDX name. A reminder: only the licence text is binding."""


@dataclass(frozen=True)
class Licence:
    info: BenchmarkInfo

    @property
    def url(self) -> str:
        return f"https://spdx.org/licenses/{self.info.licence}.html"

    @property
    def shown(self) -> str:
        lines = (
            f"{self.info.title} ({self.info.id}) is third-party data. Its licence is {self.info.licence}.",
            SAYS.get(self.info.licence, ""),
            f"Licence text: {self.url}",
            f"Source: {self.info.homepage}" if self.info.homepage else "",
            f"Cite as: {self.info.citation}" if self.info.citation else "",
            "Results may include its text."
            if self.info.redistribution == "full"
            else "memeval never publishes its text: results hold ids, digests and scores.",
        )
        return "\n".join(filter(None, lines))

    @property
    def accepted(self) -> bool:
        try:
            stored = json.loads(self._file.read_text("utf-8"))
            return bool(stored["benchmark"] == self.info.id and stored["licence"] == self.info.licence)
        except (OSError, ValueError, LookupError, TypeError):
            return False

    def accept(self) -> None:
        """Store that it was accepted. Raises ``BadInput``: the data folder cannot be written."""
        stored = {
            "schema_version": 1,
            "benchmark": self.info.id,
            "licence": self.info.licence,
            "accepted": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, (json.dumps(stored, sort_keys=True) + "\n").encode())
        except (OSError, BadInput) as error:
            raise BadInput(
                f"cannot store that you accepted the licence ({error}).",
                where=self._file,
                remedy="Free some space, or set MEMEVAL_DATA to another folder.",
            ) from None

    def refused(self, why: str) -> BadInput:
        """Return the error for data that is not downloaded because its licence was not accepted."""
        about = f"{SAYS.get(self.info.licence, '')} {self.url}".lstrip()
        return BadInput(
            f"the licence of {self.info.id} is not accepted: {why}. It is {self.info.licence} ({about}).",
            remedy="Accept it with --accept-licence. This is needed once.",
        )

    @property
    def _file(self) -> Path:
        return data_folder() / "licences" / f"{self.info.id}.json"
