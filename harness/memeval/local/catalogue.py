"""The pinned models: ``models.toml`` beside this file, and the user's own file."""

import os
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.local import PREFIX
from memeval.records.base import Digest, Record, canonical_json, digest_bytes
from memeval.records.errors import BadInput, did_you_mean
from memeval.toml import read_toml

VARIABLE = "MEMEVAL_LOCAL_MODELS"
"""The environment variable that names a TOML file of the user's models. They take precedence over memeval's."""

ENGINES = {"chat": ("xllamacpp",), "embeddings": ("onnxruntime", "tokenizers")}
"""The packages that compute the answers of each kind of model."""

VOCABULARY = Path(__file__).with_name("vocabulary.txt")
"""The vocabulary of BERT (uncased, Apache-2.0), which the models for embeddings share."""


class Kind(StrEnum):
    """What a model does."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"


class Packages(Record):
    """Packages of the Python package index that carry a file in parts, in order."""

    name: str
    """Name of a package; ``{n}`` is the number of its part."""
    version: str
    parts: int = Field(ge=1)
    member: str
    """Path of the part in the package; ``{n}`` is its number, ``{nn}`` with two digits."""

    def package(self, part: int) -> str:
        return self.name.replace("{n}", str(part))

    def path(self, part: int) -> str:
        return self.member.replace("{nn}", f"{part:02}").replace("{n}", str(part))


class LocalModel(Record):
    """A model whose weights are known by their digest."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    title: str
    kind: Kind = Kind.CHAT
    file: str = Field(pattern=r"^\w[\w.-]*$")
    bytes: int = Field(gt=0)
    digest: Digest
    """Digest of the file."""
    architecture: str
    template: Digest | None = None
    """Digest of the chat template in the file; ``None`` for a model that does not chat."""
    licence: str
    licence_stated: str
    """The page that states the licence of the weights."""
    origin: str | None = None
    """Where its makers publish the file."""
    packages: Packages | None = None
    context: int = Field(default=16_384, ge=256)
    """Tokens of prompt and answer together."""
    batch: int = Field(default=512, ge=1)
    """Tokens of a prompt that are computed at the same time."""
    threads: int = Field(default=2, ge=1)
    longest_answer: int = Field(default=2_048, ge=1)
    """Tokens after which an answer ends, whatever the request says: some models never stop by themselves."""
    reader_tokens: int = Field(default=600, ge=1)
    """Tokens of context that a reader with this model sends."""

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to get the file, in the order in which they are tried."""
        return tuple(name for name in ("origin", "packages") if getattr(self, name) is not None)

    def setup(self, engine: str) -> str:
        """Return all that decides its answers, as JSON: part of the track.

        ``engine``: the engine with its version.
        """
        setup: dict[str, Any] = {"model": self.name, "weights": self.digest, "engine": engine, "context": self.context}
        setup["threads"] = self.threads
        if self.kind is Kind.EMBEDDINGS:
            return canonical_json(setup | {"vocabulary": digest_bytes(VOCABULARY.read_bytes())})
        setup |= {"template": self.template, "batch": self.batch, "longest_answer": self.longest_answer}
        return canonical_json(setup | {"sampling": "greedy", "slots": 1, "prefix": "restored"})


class _Models(Record):
    model: tuple[LocalModel, ...] = ()


def known_models() -> tuple[LocalModel, ...]:
    """Return the user's models and memeval's. Raises BadInput: the user's file cannot be read, or has another form."""
    named = os.environ.get(VARIABLE, "").strip()
    own = read_toml(Path(named)).record(_Models).model if named else ()
    names = {model.name for model in own}
    return (*own, *(model for model in _shipped() if model.name not in names))


def find_model(name: str) -> LocalModel:
    """Return a model by its name, with or without ``local:``. Raises BadInput: there is none."""
    wanted = name.removeprefix(PREFIX)
    models = known_models()
    found = next((model for model in models if model.name == wanted), None)
    if found is None:
        names = [model.name for model in models]
        raise BadInput(
            f"there is no local model '{wanted[:100]}'.",
            remedy=did_you_mean(wanted, names) or f"Models: {', '.join(names)}.",
        )
    return found


def installed_engine(kind: Kind = Kind.CHAT) -> str:
    """Return the packages that compute the answers, with their versions. Raises BadInput: one is not installed."""
    found = []
    for package in ENGINES[kind]:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            raise BadInput(
                f"local models need the package {package}, which is not installed.",
                remedy=f"Install it: pip install 'memeval-leaderboard[local]', or pip install {package}. Without a "
                "wheel for this platform, start a server of your own and use openai:MODEL.",
            ) from None
    return ", ".join(found)


def setup_of(name: str) -> str:
    """Return all that decides the answers of a model on this machine, as JSON. Raises BadInput: it cannot run here."""
    model = find_model(name)
    return model.setup(installed_engine(model.kind))


def address_of(name: str, setup: str) -> str:
    """Return the address of a model in tracks and requests: its name, and twelve digits of its setup's digest."""
    return f"{PREFIX}{name}/{digest_bytes(setup.encode())[7:19]}"


@cache
def _shipped() -> tuple[LocalModel, ...]:
    return read_toml(Path(__file__).with_name("models.toml")).record(_Models).model
