"""Language models with pinned weights that run on this machine: what there is, fetching them, serving them."""

PREFIX = "local:"
"""What names of readers, judges and models of systems begin with if a pinned model answers."""

PREFIX_HEADER = "Memeval-Prefix"
"""Header with the number of characters at the start of the first message that are equal in many requests."""


def is_local(name: str | None) -> bool:
    """Return whether a name, or an address in a track, is that of a model on this machine."""
    return name is not None and name.startswith(PREFIX)
