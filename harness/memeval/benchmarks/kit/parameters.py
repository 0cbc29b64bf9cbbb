"""Parameters of generated benchmarks, and what a tier cannot be opened with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.benchmarks.base import Parameters
from memeval.records.errors import BadInput


@dataclass(frozen=True)
class SeedAndSize:
    defaults: Mapping[str, int]
    largest: int
    counted: str = ""
    """What the size counts, as a plural: ``people``. Empty to leave it out of messages."""

    def chosen(self, benchmark: str, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the requested seed and size.

        Raises ``BadInput``: a path was given, or a parameter that is unknown or out of range. ``path``: must be
        ``None``; there is no file to read.
        """
        if path is not None:
            raise BadInput(
                f"{benchmark} is generated and reads no file.",
                where=path,
                remedy="Leave --data out. Set 'seed' and 'size' instead.",
            )
        chosen = dict(self.defaults)
        for name, value in (parameters or {}).items():
            if name not in chosen:
                raise BadInput(f"{benchmark} has no parameter '{name}'.", remedy="It has: seed, size.")
            try:
                chosen[name] = int(str(value))
            except ValueError:
                raise BadInput(f"{benchmark}: invalid {name}={value}.", remedy="It must be a whole number.") from None
        if not 1 <= chosen["size"] <= self.largest:
            limit = f"{self.largest} {self.counted}".strip()
            raise BadInput(f"{benchmark}: invalid size={chosen['size']}.", remedy=f"It must be from 1 to {limit}.")
        if chosen["seed"] < 0:
            raise BadInput(f"{benchmark}: invalid seed={chosen['seed']}.", remedy="It must be 0 or more.")
        return chosen["seed"], chosen["size"]


def check_protocol(benchmark: str, protocols: Sequence[str], protocol: str, tier: str) -> None:
    if protocol not in protocols:
        names = " or ".join(f"'{name}'" for name in protocols)
        raise BadInput(
            f"{benchmark} has no tier '{tier}' under the protocol '{protocol}'.", remedy=f"Use the protocol {names}."
        )


def check_no_size(benchmark: str, tier: str, parameters: Parameters | None) -> None:
    if "size" in (parameters or {}):
        raise BadInput(
            f"{benchmark} has no parameter 'size' in the tier '{tier}'.", remedy="Leave it out. Only 'seed' can be set."
        )
