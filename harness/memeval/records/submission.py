"""``submission.toml``: what a system says of itself, and how it is started."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Record, Slug

VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*$", max_length=64)]
"""The name of an environment variable."""

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]
"""A host's name in lower case, without scheme, port or path."""

Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
"""A date, ISO 8601."""


class AdapterKind(StrEnum):
    """How memeval talks to a system."""

    PYTHON = "python"
    """A class in a Python file."""
    COMMAND = "command"
    """A program that speaks memeval's JSON lines over standard input and output."""
    HTTP = "http"
    """A server that speaks memeval's own HTTP contract."""
    DAEMON = "daemon"
    """A server that speaks the wire contract of the jeffs-brain daemons."""
    MCP = "mcp"
    """A Model Context Protocol server whose tools are mapped to calls."""


class Resources(Record):
    """What a system may use. Under the sandbox no instance gets more."""

    memory_mb: int = Field(default=4096, ge=64, le=1_048_576)
    """Memory of all its processes together, in MiB."""
    disk_mb: int = Field(default=2048, ge=1, le=1_048_576)
    """Everything it may write, in MiB; it lies in memory."""
    processes: int = Field(default=256, ge=1, le=4096)
    """Processes and threads at once."""
    cpus: int | None = Field(default=None, ge=1, le=1024)
    """Processors it may run on; ``None`` for all of the machine."""
    start_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long it may take until it can be called."""


class Host(Record):
    """A host on the network that a system needs. memeval forwards requests there, and puts the key in on the way."""

    host: HostName
    """The host, such as ``api.example.com``; it is reached over HTTPS."""
    variable: VariableName
    """The variable that the system reads the base URL from."""
    key: VariableName | None = None
    """The variable that holds the key. The system finds a placeholder in it; the key itself never gets to it."""


class ServiceName(StrEnum):
    """A service that memeval can start beside a system."""

    POSTGRES = "postgres"
    """PostgreSQL, with pgvector where it is installed."""
    REDIS = "redis"
    """Redis."""
    NEO4J = "neo4j"
    """Neo4j."""


class Service(Record):
    """A service that is started fresh for each instance of the system, and ends with it."""

    name: ServiceName
    """Which one."""
    variable: VariableName
    """The variable that the system reads the service's address from."""


class Vendor(Record):
    """The company whose hosted product is measured."""

    name: str
    """Who it is."""
    never_run: bool = True
    """Whether nobody has run this submission against the vendor's real service yet."""
    notified: Day | None = None
    """When the vendor was told of the submission; it is ranked 14 days later at the earliest."""
    agreed: Day | None = None
    """When the vendor agreed to be ranked."""


class McpTool(Record):
    """An MCP tool that stands for one call of the adapter contract."""

    name: str
    """The tool's name at the server."""
    arguments: dict[str, str | int | float | bool] = {}
    """Its arguments; in texts, ``{content}``, ``{query}``, ``{k}`` and the like stand for what memeval passes."""
    result: str | None = None
    """Where the items lie in the tool's structured result, as keys with dots between; ``None`` for its texts."""


class Variant(Record):
    """A submission set up in another way: the same files under other parameters, with a name of its own."""

    summary: str
    """What is different about it, in a sentence."""
    parameters: dict[str, str | int | float | bool]
    """Parameters that are other than the submission's own; the rest stay."""
    declared_models: tuple[str, ...] = ()
    """Models it uses besides those of the submission."""


class Submission(Record):
    """What a system says of itself. Its text comes from outside."""

    schema_version: int = 1
    """Version of this file's schema."""
    slug: Slug
    """Its folder, and its name in paths and URLs."""
    name: str = Field(min_length=1, max_length=80)
    """Its name for people."""
    version: str = Field(min_length=1, max_length=80)
    """Its version."""
    kind: AdapterKind = AdapterKind.PYTHON
    """How memeval talks to it."""
    entry: str = "adapter.py"
    """For ``python``: the file with the adapter class, and, after a colon, the class where there are several."""
    command: tuple[str, ...] = ()
    """For every other kind: the program and its arguments; ``{port}`` stands for a free port of loopback."""
    endpoint: str | None = None
    """For servers that already run: their base URL, in place of ``command``; its host is one of ``hosts``."""
    tools: dict[str, McpTool] = {}
    """For ``mcp``: the tool behind each call, by the call's name: ``retain``, ``search``, ``query``, ``reset``."""
    authors: tuple[str, ...] = ()
    """Who wrote it."""
    licence: str | None = None
    """SPDX expression of its licence."""
    homepage: str | None = None
    """Where it lives."""
    summary: str | None = None
    """What it is, in a sentence."""
    light: bool = False
    """Whether it runs in seconds with no key and no download; such systems are part of ``make demo``."""
    declared_models: tuple[str, ...] = ()
    """Models it uses, all reached through memeval's endpoint."""
    deterministic: bool = True
    """Whether a second identical run gives the same answers."""
    self_reported: tuple[str, ...] = ()
    """What of its figures is its own account, not memeval's measurement: ``tokens``, ``usage``."""
    label: str | None = Field(default=None, min_length=1, max_length=80)
    """Why its scores say nothing of the product, such as ``mock provider``: it is shown with this, and never ranked."""
    variables: dict[VariableName, str] = {}
    """Environment variables it is started with; no secrets."""
    parameters: dict[str, str | int | float | bool] = {}
    """Keyword arguments of the adapter class, or what ``load`` passes to a command."""
    variants: dict[Slug, Variant] = {}
    """Other set-ups of it, by name; ``SLUG:NAME`` is what one is called where systems are named."""
    resources: Resources = Resources()
    """What it may use."""
    hosts: tuple[Host, ...] = ()
    """Hosts on the network that it needs."""
    services: tuple[Service, ...] = ()
    """Services it needs."""
    vendor: Vendor | None = None
    """Whose hosted product it is; ``None`` where everything runs here."""
    conflict_of_interest: str | None = None
    """What ties the submitter to a system on the board."""

    @property
    def slugs(self) -> dict[str, str | None]:
        """The names that it and its variants have in paths and URLs, each with the variant's own; ``None`` for it."""
        return {self.slug: None} | {variant_slug(self.slug, name): name for name in self.variants}

    def varied(self, name: str) -> Submission:
        """Return what one of the variants says of itself.

        Raises:
            KeyError: there is none of that name.
        """
        variant = self.variants[name]
        models = (*self.declared_models, *variant.declared_models)
        return self.altered(name, variant.parameters, variant.summary).model_copy(update={"declared_models": models})

    def altered(self, name: str, parameters: Mapping[str, str | int | float | bool], summary: str | None) -> Submission:
        """Return the submission under other parameters.

        Args:
            name: what it is called besides; part of its slug and its name.
            parameters: those that are other than its own.
            summary: what is different about it; ``None`` keeps what it says of itself.
        """
        return self.model_copy(
            update={
                "slug": variant_slug(self.slug, name),
                "name": f"{self.name} ({name})",
                "summary": summary or self.summary,
                "parameters": self.parameters | dict(parameters),
                "variants": {},
            }
        )


def variant_slug(slug: str, name: str) -> str:
    """Return the name that a variant of a submission has in paths and URLs."""
    return f"{slug}-{name}"
