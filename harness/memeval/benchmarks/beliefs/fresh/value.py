"""The value of a beacon: fetched, checked, stored, and converted to a seed.

memeval checks that the value is of the announced round, and that its randomness is the SHA-256 of its signature. It
does not check that the signature is that of the beacon, which needs pairings of elliptic curves. The seed is in the
parameters of every run, so anyone can compare it with the beacon.
"""

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
from memeval.benchmarks.data import file_bytes
from memeval.records.base import Stored
from memeval.records.errors import BadInput
from memeval.storage import writable, write_whole

FILENAME = "beacon.json"

SEED_DIGITS = 12
"""Number of leading hexadecimal digits of the randomness that form the seed: 48 bits, which every JSON parser keeps
exactly (many use doubles, with 53 bits)."""

LARGEST = 64_000
"""Largest accepted reply, in bytes."""

TIMEOUT_SECONDS = 30.0

ELSEWHERE = "MEMEVAL_BEACON_URL"
"""Environment variable with another address of a beacon, for tests. Its values are never ranked."""


class BeaconValue(Stored):
    edition: str
    round: int = Field(ge=1)
    randomness: str = Field(pattern=Hex, min_length=64, max_length=64)
    """The SHA-256 of the signature, in hexadecimal digits."""
    signature: str = Field(pattern=Hex, min_length=96, max_length=96)
    """The signature of the beacon for the round, in hexadecimal digits."""
    source: str

    @property
    def seed(self) -> int:
        return int(self.randomness[:SEED_DIGITS], 16)


def read(path: Path, edition: Edition) -> BeaconValue:
    again = f"Delete the file and run memeval data pull {edition.name}."
    data = file_bytes(path, LARGEST, again)
    try:
        value = BeaconValue.parse(data, path)
    except BadInput as error:
        raise BadInput(error.problem, where=error.where, remedy=again) from None
    return _checked(value, edition, str(path))


def fetch(edition: Edition, beacon: Beacon, target: Path) -> Path:
    """Fetch the value of an edition and store it. A valid stored value stays as it is.

    Raises ``BadInput``: the value is not drawn yet, by the clock of this machine; the beacon cannot be reached or sent
    another value; or the file cannot be written. The file is never half-written. ``beacon``: the source of its seed.
    ``target``: the file to write; its folder is created if missing.
    """
    if target.is_file():
        try:
            read(target, edition)
        except BadInput:
            pass  # damaged or of another edition: fetch it again
        else:
            return target
    now = datetime.now(UTC)
    if now < edition.moment:
        raise BadInput(
            f"the seed of {edition.id} is drawn at {edition.at}, and the clock of this machine says "
            f"{now:%Y-%m-%dT%H:%M:%SZ}.",
            remedy="Run the command again after that time.",
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
    return value.source in {beacon.address(base, value.round) for base in beacon.urls}


def _checked(value: BeaconValue, edition: Edition, where: str) -> BeaconValue:
    if value.edition != edition.id:
        raise BadInput(f"this is the value of {value.edition}, not of {edition.id}.", where=where)
    if value.round != edition.round:
        raise BadInput(f"this is round {value.round}, but {edition.id} needs round {edition.round}.", where=where)
    if hashlib.sha256(bytes.fromhex(value.signature)).hexdigest() != value.randomness:
        raise BadInput(
            "the randomness is not the SHA-256 of the signature.",
            where=where,
            remedy=f"It is damaged or was changed. Delete it and run memeval data pull {edition.name}.",
        )
    return value


def _fetched(address: str, edition: Edition) -> BeaconValue:
    try:
        reply: Any = json.loads(_body(address, edition))
    except (ValueError, RecursionError):
        raise BadInput("the reply is not JSON.", where=address, remedy="Try again later.") from None
    if not isinstance(reply, dict):
        raise BadInput("the reply is not a value of a beacon.", where=address, remedy="Try again later.")
    parts = {name: reply.get(name) for name in ("round", "randomness", "signature")}
    value = BeaconValue.from_data(
        {"schema_version": BeaconValue.SCHEMA, "edition": edition.id, "source": address, **parts}, address
    )
    return _checked(value, edition, address)


def _body(address: str, edition: Edition) -> bytes:
    from memeval.download import opener

    if urlsplit(address).scheme not in ("http", "https"):
        raise BadInput("only http and https addresses are supported.", where=address)
    request = urllib.request.Request(address, headers={"User-Agent": "memeval"})  # noqa: S310 - the scheme is checked
    try:
        with opener().open(request, timeout=TIMEOUT_SECONDS) as response:
            body: bytes = response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        drawn = f"Round {edition.round} is drawn at {edition.at}. Check the clock of this machine, or try again later."
        raise BadInput(f"the beacon refused the request ({error.code}).", where=address, remedy=drawn) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, BadInput):
            raise error.reason from None
        raise BadInput(f"cannot be reached ({error.reason}).", where=address, remedy="Try again later.") from None
    except (OSError, HTTPException) as error:
        raise BadInput(f"cannot be reached ({error}).", where=address, remedy="Try again later.") from None
    if len(body) > LARGEST:
        raise BadInput("the reply is too large for a value of a beacon.", where=address, remedy="Try again later.")
    return body


def _store(value: BeaconValue, target: Path) -> None:
    with writable(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, (value.to_json() + "\n").encode())
