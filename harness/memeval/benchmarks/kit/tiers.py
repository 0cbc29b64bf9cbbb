"""Refuses what a tier cannot be opened with."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.benchmarks.base import Parameters
from memeval.records.errors import BadInput


def check_protocol(benchmark: str, protocols: Sequence[str], protocol: str, tier: str) -> None:
    """Check that a protocol has a tier.

    Args:
        protocols: its protocols with this tier.
        protocol: the requested protocol.
        tier: the requested tier.

    Raises:
        BadInput: it has not.
    """
    if protocol not in protocols:
        names = " or ".join(f"'{name}'" for name in protocols)
        raise BadInput(
            f"{benchmark} has no tier '{tier}' under the protocol '{protocol}'.", remedy=f"Use the protocol {names}."
        )


def check_no_size(benchmark: str, tier: str, parameters: Parameters | None) -> None:
    """Check that no size is chosen in a tier that has its own.

    Args:
        tier: the requested tier.
        parameters: the requested parameters.

    Raises:
        BadInput: a size is given.
    """
    if "size" in (parameters or {}):
        raise BadInput(
            f"{benchmark} has no parameter 'size' in the tier '{tier}'.",
            remedy="Leave it out. Only 'seed' can be set.",
        )
