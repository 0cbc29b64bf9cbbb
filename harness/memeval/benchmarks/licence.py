"""The licence of a benchmark's data: shown before the first download, and accepted once."""

from __future__ import annotations

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
"""What common licences say in a line, by SPDX name. It is a reminder; what holds is the licence itself."""


@dataclass(frozen=True)
class Licence:
    """The licence of one benchmark's data."""

    info: BenchmarkInfo
    """The benchmark."""

    @property
    def url(self) -> str:
        """Where the text of the licence is."""
        return f"https://spdx.org/licenses/{self.info.licence}.html"

    @property
    def shown(self) -> str:
        """What is shown: whose data it is, under which licence, what that says, and where to read it."""
        lines = (
            f"The data of {self.info.title} ({self.info.id}) is not memeval's. Its licence is {self.info.licence}.",
            SAYS.get(self.info.licence, ""),
            f"The licence: {self.url}",
            f"The data: {self.info.homepage}" if self.info.homepage else "",
            f"To be cited as: {self.info.citation}" if self.info.citation else "",
            "It may be published with results."
            if self.info.redistribution == "full"
            else "Its text is never published with results; they carry ids, digests and scores.",
        )
        return "\n".join(filter(None, lines))

    @property
    def accepted(self) -> bool:
        """Whether this very licence was accepted on this machine."""
        try:
            stored = json.loads(self._file.read_text("utf-8"))
            return bool(stored["benchmark"] == self.info.id and stored["licence"] == self.info.licence)
        except (OSError, ValueError, LookupError, TypeError):
            return False

    def accept(self) -> None:
        """Remember that it was accepted.

        Raises:
            BadInput: the data folder cannot be written.
        """
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
                f"that the licence was accepted cannot be stored ({error}).",
                where=self._file,
                remedy="Make room, or name another folder with MEMEVAL_DATA.",
            ) from None

    def refused(self, why: str) -> BadInput:
        """Return the sentence for data that is not fetched because nobody accepted its licence.

        Args:
            why: what happened instead.
        """
        about = f"{SAYS.get(self.info.licence, '')} {self.url}".lstrip()
        return BadInput(
            f"the data of {self.info.id} is under {self.info.licence} ({about}), and {why}.",
            remedy="Accept it with --accept-licence; that is asked once.",
        )

    @property
    def _file(self) -> Path:
        return data_folder() / "licences" / f"{self.info.id}.json"
