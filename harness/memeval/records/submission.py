"""``submission.toml``: the description of a system, and how to start it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from memeval.records.base import Digest, Record, ShownName, Slug
from memeval.records.choices import AdapterKind as AdapterKind
from memeval.records.dates import Day

VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*$", max_length=64)]
"""The name of an environment variable."""

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]
"""A host's name in lower case, without scheme, port or path."""


class Resources(Record):
    """Resource limits of one instance of a system, enforced by the sandbox."""

    memory_mb: int = Field(default=4096, ge=64, le=65_536)
    """Memory of all its processes, in MiB."""
    disk_mb: int = Field(default=2048, ge=1, le=65_536)
    """Files it may write, in MiB; they are kept in memory."""
    processes: int = Field(default=256, ge=1, le=4096)
    """Concurrent processes and threads."""
    cpus: int | None = Field(default=None, ge=1, le=1024)
    """Number of processors; ``None`` for all."""
    start_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Time limit for the start, in seconds."""


class Host(Record):
    """A network host that a system needs. memeval forwards requests to it and adds the key."""

    host: HostName
    """The host, such as ``api.example.com``; the connection uses HTTPS."""
    variable: VariableName
    """The environment variable from which the system reads the base URL."""
    key: VariableName | None = None
    """The environment variable of the key. The system receives a placeholder key, never the key itself."""


class ServiceName(StrEnum):
    """A service that memeval can start for a system."""

    POSTGRES = "postgres"
    """PostgreSQL, with pgvector if installed."""
    REDIS = "redis"
    NEO4J = "neo4j"


class Service(Record):
    """A service that memeval starts and stops with each instance of the system."""

    name: ServiceName
    variable: VariableName
    """The environment variable from which the system reads the service's address."""


class Storage(Record):
    """A private folder that outlives the processes of a system. Started on it again, the system has its memories."""

    acknowledged: str = Field(min_length=1, max_length=200)
    """What has happened to a text when ``retain`` returns, in the words of the product's documentation, such as
    ``COMMIT returned, synchronous=FULL``."""
    documentation: str | None = None
    """Web address of that documentation."""


class Vendor(Record):
    """The company behind a hosted product."""

    name: str
    never_run: bool = True
    """Whether this submission has never run against the vendor's real service."""
    notified: Day | None = None
    """Date when the vendor was informed of the submission; it is ranked 14 days later at the earliest."""
    agreed: Day | None = None
    """Date when the vendor agreed to be ranked."""


class McpTool(Record):
    """An MCP tool that implements one call of the adapter contract."""

    name: str
    """The tool's name on the server."""
    arguments: dict[str, JsonValue] = {}
    """Its arguments; tables and lists may be nested. memeval replaces placeholders in texts, such as ``{content}``."""
    result: str | None = None
    """Path of the items in the tool's structured result: keys joined by dots; ``None`` to use its texts."""
    id: str | None = None
    """For a tool that stores: path of the id that the product gave to the text; ``None`` if memeval gives the id."""


class Product(Record):
    """The product under test, apart from the adapter: what its package and its maker state."""

    name: ShownName = Field(min_length=1, max_length=80)
    package: str | None = Field(default=None, min_length=1, max_length=214)
    """The name of its package, as in the lock file; ``None`` if no package is installed."""
    version: str | None = Field(default=None, min_length=1, max_length=80)
    """The version that ran: of the package, or of the product without one; ``None`` if unknown."""
    licence: str | None = Field(default=None, min_length=1, max_length=200)
    """Its licence in the words of the package's metadata; ``None`` if the metadata does not state it."""
    licence_digest: Digest | None = None
    """Digest of the package's licence file, if the metadata states no licence; ``None`` without a file."""
    homepage: str | None = None
    storage: str | None = Field(default=None, min_length=1, max_length=200)
    """What it stores where, such as ``vectors in a local Qdrant, in its own folder``."""


class Configuration(Record):
    """Which settings of a product ran. Every text is shown as it is."""

    model: str | None = Field(default=None, min_length=1, max_length=80)
    """The language model, such as ``gpt-4o-mini`` or ``no LLM``."""
    embedder: str | None = Field(default=None, min_length=1, max_length=80)
    """The embedding model, such as ``MiniLM, 8 bit`` or ``no embedder``."""
    mode: str | None = Field(default=None, min_length=1, max_length=80)
    """How the product was used, such as ``verbatim``."""
    replaced: tuple[str, ...] = ()
    """Parts of the product that were replaced or left out, a phrase each."""
    caveats: tuple[str, ...] = ()
    """What readers of the scores should know, a phrase each."""

    def altered(self, other: Configuration) -> Configuration:
        """Return the configuration with the fields that another one states."""
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


def configuration_text(
    name: str, version: str, product: Product | None, configuration: Configuration | None
) -> str | None:
    """Return a configuration for people, such as ``mem0 2.2.1 · verbatim, MiniLM, no LLM``.

    A version that also names the package stands as it is: ``PostgreSQL with pgvector pgserver 0.1.4``.
    Returns the text; ``None`` if neither product nor configuration is stated.
    """
    if product is None and configuration is None:
        return None
    of_product = product.version if product and product.version else version
    shown = version if version.endswith(f" {of_product}") else of_product
    head = f"{product.name if product else name} {shown}"
    stated = configuration or Configuration()
    settings = [text for text in (stated.mode, stated.embedder, stated.model) if text is not None]
    return f"{head} · {', '.join(settings)}" if settings else head


class Variant(Record):
    """A variant of a submission: the same files with other parameters and another name."""

    summary: str
    """How it differs, in a sentence."""
    parameters: dict[str, str | int | float | bool]
    """Parameters that differ from those of the submission."""
    declared_models: tuple[str, ...] = ()
    """Additional models."""
    configuration: Configuration | None = None
    """The fields of the configuration that differ; ``None`` if none does."""


class Interests(Record):
    """Who maintains the product, and what links the authors of the adapter with them."""

    product: str = Field(min_length=1, max_length=200)
    """Who maintains the product."""
    relation: str = Field(min_length=1, max_length=200)
    """What the authors of the adapter are to them: ``the same``, ``none``, or in words, such as an employer."""


class Submission(Record):
    """The description of a system, by its author. Its text is untrusted.

    The digest of a submission covers its files and the fields that decide what runs; see
    :data:`memeval.systems.folder.BEHAVIOUR`. The other fields describe it.
    """

    schema_version: int = 1
    slug: Slug
    """Its folder name, also used in paths and URLs."""
    name: ShownName = Field(min_length=1, max_length=80)
    version: str = Field(min_length=1, max_length=80)
    kind: AdapterKind = AdapterKind.PYTHON
    """Its interface."""
    entry: str = "adapter.py"
    """For ``python``: the file with the adapter class. Add ``:CLASS`` if the file has several."""
    command: tuple[str, ...] = ()
    """For every other kind: the program and its arguments. memeval replaces ``{port}`` with a free loopback port."""
    endpoint: str | None = None
    """For a running server: its base URL, instead of ``command``. Its host must be one of ``hosts``."""
    tools: dict[str, McpTool] = {}
    """For ``mcp``: the tool of each call, by the call's name: ``retain``, ``search``, ``query``, ``reset``."""
    authors: tuple[str, ...] = ()
    """Its author."""
    licence: str | None = None
    """SPDX expression of its licence."""
    homepage: str | None = None
    summary: str | None = None
    """A description, in a sentence."""
    light: bool = False
    """Whether it runs in seconds, without key or download; ``make demo`` runs such systems."""
    declared_models: tuple[str, ...] = ()
    """Models it uses, all through memeval's model gateway."""
    deterministic: bool = True
    """Whether an identical second run gives the same answers."""
    self_reported: tuple[str, ...] = ()
    """Values that the system reports itself: ``tokens``, ``usage``."""
    mock: bool = False
    """Whether a stand-in replaces a part that the product needs, such as a scripted model. A mock is never ranked."""
    product: Product | None = None
    """The product under test; ``None`` for a system of its own, such as a baseline."""
    configuration: Configuration | None = None
    """Which settings of the product ran; ``None`` if not stated."""
    variables: dict[VariableName, str] = {}
    """Its environment variables; no secrets."""
    parameters: dict[str, str | int | float | bool] = {}
    """Keyword arguments of the adapter class; for a command, the parameters of ``load``."""
    variants: dict[Slug, Variant] = {}
    """Its variants, by name; ``SLUG:NAME`` selects one."""
    resources: Resources = Resources()
    """Its resource limits."""
    hosts: tuple[Host, ...] = ()
    """Network hosts it needs."""
    services: tuple[Service, ...] = ()
    storage: Storage | None = None
    """Its storage folder; ``None`` if it keeps nothing when its process ends, or nobody has tried."""
    vendor: Vendor | None = None
    interests: Interests | None = None
    """Who maintains the product; ``None`` if not stated."""
    conflict_of_interest: str | None = None
    """Interests of the submitter in a system on the board."""

    @property
    def slugs(self) -> dict[str, str | None]:
        """The slugs of the submission and its variants, with the variant's name; ``None`` for the submission itself."""
        return {self.slug: None} | {variant_slug(self.slug, name): name for name in self.variants}

    def varied(self, name: str) -> Submission:
        """Return the submission as one of its variants. Raises ``KeyError`` if no variant has that name."""
        variant = self.variants[name]
        models = (*self.declared_models, *variant.declared_models)
        configuration = self.configuration
        if variant.configuration is not None:
            configuration = (configuration or Configuration()).altered(variant.configuration)
        return self.altered(name, variant.parameters, variant.summary).model_copy(
            update={"declared_models": models, "configuration": configuration}
        )

    def altered(self, name: str, parameters: Mapping[str, str | int | float | bool], summary: str | None) -> Submission:
        """Return the submission with other parameters.

        ``name``: name of the variant; added to its slug and its name. ``summary``: how it differs; ``None`` keeps the
        summary of the submission.
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
    return f"{slug}-{name}"
