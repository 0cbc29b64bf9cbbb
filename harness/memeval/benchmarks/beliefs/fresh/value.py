"""The value that a beacon drew: checked where it comes in, stored, and made into a seed.

What is checked is that the value is of the round that was announced, and that its randomness is the SHA-256 of its
signature. That the signature is the beacon's own takes pairings of elliptic curves and is not checked here; the seed
stands in every run's parameters, and anyone can hold it against the beacon.
"""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, Hex
from memeval.records.base import Stored
from memeval.records.errors import BadInput
from memeval.storage import unwritable, write_whole

FILENAME = "beacon.json"

SEED_DIGITS = 12
"""Hexadecimal digits of the randomness, from its beginning, that are the seed: 48 bits, which every reader of JSON
keeps whole (many hold numbers in doubles, with 53)."""

LARGEST = 64_000
"""A reply of more bytes is no value of a beacon."""

TIMEOUT_SECONDS = 30.0

ELSEWHERE = "MEMEVAL_BEACON_URL"
"""Names another address than the beacon's own, for tests; what came from there is never ranked."""


class BeaconValue(Stored):
    """What a beacon drew in one round."""

    edition: str
    """The edition it is the seed of."""
    round: int = Field(ge=1)
    """The round."""
    randomness: str = Field(pattern=Hex, min_length=64, max_length=64)
    """The SHA-256 of the signature, in hexadecimal digits."""
    signature: str = Field(pattern=Hex, min_length=96, max_length=96)
    """The beacon's signature under the round, in hexadecimal digits."""
    source: str
    """The address it came from."""

    @property
    def seed(self) -> int:
        """The seed of the edition."""
        return int(self.randomness[:SEED_DIGITS], 16)


def read(path: Path, edition: Edition) -> BeaconValue:
    """Read a stored value.

    Raises:
        BadInput: it cannot be read, is no value, or is not the edition's.
    """
    again = f"Remove it, and call 'memeval data pull {edition.name}'."
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None
    if len(data) > LARGEST:
        raise BadInput("too large to be a beacon's value.", where=path, remedy=again)
    try:
        value = BeaconValue.parse(data, path)
    except BadInput as error:
        raise BadInput(error.problem, where=error.where, remedy=again) from None
    return _checked(value, edition, str(path))


def fetch(edition: Edition, beacon: Beacon, target: Path) -> Path:
    """Fetch an edition's value and store it; one that is there already, and right, is left alone.

    Args:
        edition: the edition.
        beacon: where its seed comes from.
        target: the file it goes to; its folder is made where it is missing.

    Raises:
        BadInput: the value is not drawn yet, by this machine's clock; the beacon cannot be reached, or gave something
            else; or the file cannot be written. Nothing is left half-written.
    """
    if target.is_file():
        try:
            read(target, edition)
        except BadInput:
            pass  # damaged, or another edition's: it is fetched again
        else:
            return target
    now = datetime.now(UTC)
    if now < edition.moment:
        raise BadInput(
            f"the seed of {edition.id} is not drawn before {edition.at}, and this machine's clock says "
            f"{now:%Y-%m-%dT%H:%M:%SZ}.",
            remedy=f"It is round {edition.round} of {beacon.name}: call again then.",
        )
    elsewhere = os.environ.get(ELSEWHERE)
    refused: BadInput | None = None
    for base in (elsewhere,) if elsewhere else beacon.urls:
        try:
            value = _fetched(beacon.address(base, edition.round), edition)
        except BadInput as error:
            refused = refused or error
        else:
            _store(value, target)
            return target
    raise refused or BadInput(f"{beacon.name} has no address.")


def is_official(value: BeaconValue, beacon: Beacon) -> bool:
    """Return whether a value came from one of the beacon's own addresses."""
    return value.source in {beacon.address(base, value.round) for base in beacon.urls}


def _checked(value: BeaconValue, edition: Edition, where: str) -> BeaconValue:
    if value.edition != edition.id:
        raise BadInput(f"this is the value of {value.edition}, and not of {edition.id}.", where=where)
    if value.round != edition.round:
        raise BadInput(f"this is round {value.round}, and {edition.id} has round {edition.round}.", where=where)
    if hashlib.sha256(bytes.fromhex(value.signature)).hexdigest() != value.randomness:
        raise BadInput(
            "the randomness is not the SHA-256 of the signature.",
            where=where,
            remedy=f"It was tampered with or damaged. Remove it, and call 'memeval data pull {edition.name}'.",
        )
    return value


def _fetched(address: str, edition: Edition) -> BeaconValue:
    """Return the value that an address gives."""
    try:
        told: Any = json.loads(_body(address, edition))
    except (ValueError, RecursionError):
        raise BadInput("the reply is no JSON.", where=address, remedy="Try again later.") from None
    if not isinstance(told, dict):
        raise BadInput("the reply is no value of a beacon.", where=address, remedy="Try again later.")
    parts = {name: told.get(name) for name in ("round", "randomness", "signature")}
    value = BeaconValue.from_data(
        {"schema_version": BeaconValue.SCHEMA, "edition": edition.id, "source": address, **parts}, address
    )
    return _checked(value, edition, address)


def _body(address: str, edition: Edition) -> bytes:
    from memeval.benchmarks.download import opener

    if urlsplit(address).scheme not in ("http", "https"):
        raise BadInput("only http and https addresses can be asked.", where=address)
    request = urllib.request.Request(address, headers={"User-Agent": "memeval"})  # noqa: S310 - the scheme is checked
    try:
        with opener().open(request, timeout=TIMEOUT_SECONDS) as response:
            body: bytes = response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        drawn = f"Round {edition.round} is drawn at {edition.at}: look at this machine's clock, or try again later."
        raise BadInput(f"the beacon refused ({error.code}).", where=address, remedy=drawn) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, BadInput):
            raise error.reason from None
        raise BadInput(f"cannot be reached ({error.reason}).", where=address, remedy="Try again later.") from None
    except (OSError, HTTPException) as error:
        raise BadInput(f"cannot be reached ({error}).", where=address, remedy="Try again later.") from None
    if len(body) > LARGEST:
        raise BadInput("the reply is too large to be a beacon's value.", where=address, remedy="Try again later.")
    return body


def _store(value: BeaconValue, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(target.parent, error) from None
    write_whole(target, (value.to_json() + "\n").encode())
