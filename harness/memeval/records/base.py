"""The base classes of all records: strict fields, canonical JSON, digests and schema versions."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args

import jiter
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from memeval.records.errors import BadInput, NewerSchema, did_you_mean
from memeval.records.names import looks_like

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""A SHA-256 digest of uncompressed bytes, written ``sha256:`` and 64 hexadecimal digits."""

SLUG_LENGTH = 64
"""Maximum length of a slug, in characters."""

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Pattern of a whole slug: words of a-z and 0-9, separated by single dashes."""

Slug = Annotated[str, StringConstraints(pattern=rf"^{SLUG.pattern}$", max_length=SLUG_LENGTH)]
"""A name that is safe as a folder, in a URL and on every file system."""

_BIDI = "\u200e\u200f\u202a-\u202e\u2066-\u2069"


def _as_it_looks(name: str) -> str:
    if (other := looks_like(name)) is not None:
        raise PydanticCustomError(
            "look_alike",
            "{name} looks like '{other}', but has other characters. Write it in the letters that it shows",
            {"name": ascii(name), "other": other},
        )
    return name


ShownName = Annotated[
    str,
    StringConstraints(max_length=200, pattern=f"^[^\x00-\x1f\x7f-\x9f{_BIDI}]*$"),
    AfterValidator(_as_it_looks),
]
"""A name for people: one line of bounded length, without characters that reverse the text around it, and without
letters of one script that look like those of another."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""A proportion in [0, 1], never a percentage."""

R = TypeVar("R", bound=BaseModel)

LONGEST_KEY = 80
"""Characters of a repeated key that are shown."""

EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "a table of names and values",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "a table of names and values",
    "model_type": "a table of names and values",
    "string_type": "text",
    "tuple_type": "a list",
}
"""The expected value in an error message, by pydantic's error type."""


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of ``value``: sorted keys, no spaces, no NaN, Unicode unescaped."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest_bytes(data: bytes) -> Digest:
    """Return ``sha256:`` and the 64 hexadecimal digits of the SHA-256 of ``data``."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_of(value: Any) -> Digest:
    """Return the digest of :func:`canonical_json` of ``value``; see :func:`digest_bytes`."""
    return digest_bytes(canonical_json(value).encode())


class Record(BaseModel):
    """A frozen value with a closed set of fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    def data(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def identity(self) -> dict[str, Any]:
        """Return the data that the record's hash covers: its fields, without those that have their default value.

        The default of a later field describes the behaviour before the field existed, so that old ids stay valid. For
        the same reason, the default of a hashed field never changes.
        """
        return self.model_dump(mode="json", exclude_defaults=True)

    def to_json(self) -> str:
        return canonical_json(self.data())


class Sorted(Record):
    """A record that pydantic itself writes with sorted keys, many times faster than :func:`canonical_json`.

    Its fields are not dicts, and their records are sorted too.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Return pydantic's schema with the fields in the order of their names, which is the order of its output."""
        schema = handler(source)
        fields: Any = schema
        while fields["type"] != "model-fields":
            fields = fields["schema"]
        fields["fields"] = dict(sorted(fields["fields"].items()))
        return schema


class Stored(Record):
    """A record that is a file or a row of a file. It names its schema version."""

    SCHEMA: ClassVar[int] = 1
    """The schema version that this memeval writes, and the only one that it reads."""

    VOLATILE: ClassVar[frozenset[str]] = frozenset()
    """Fields that differ between equal runs, such as clocks."""

    schema_version: int = 1

    def comparable(self) -> dict[str, Any]:
        """Return the data of the record without the fields that differ between equal runs."""
        return self.model_dump(mode="json", exclude=set(self.VOLATILE))

    def comparable_json(self) -> bytes:
        return canonical_json(self.comparable()).encode()

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Check that a subclass writes the same schema version that it reads."""
        if cls.model_fields["schema_version"].default != cls.SCHEMA:
            raise TypeError(f"{cls.__name__} has SCHEMA {cls.SCHEMA}: give it 'schema_version: int = {cls.SCHEMA}' too")

    @classmethod
    def parse(cls, text: str | bytes, where: object) -> Self:
        """Read one record from JSON text.

        ``where``: the source of the text, a file or ``file:line``; named in errors. Raises ``NewerSchema`` if a later
        memeval wrote the text. Raises ``BadInput`` if the text is not a valid record, or has an older schema version.
        """
        try:
            data = parsed(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"not valid JSON ({error}).", where=where, remedy="Restore the file, or record a new run."
            ) from None
        if not isinstance(data, dict):
            raise BadInput(f"expected a JSON object, found {type(data).__name__}.", where=where)
        return cls.from_data(data, where, text if isinstance(text, bytes) else None)

    @classmethod
    def from_data(cls, data: dict[str, Any], where: object, text: bytes | None = None) -> Self:
        """Read one record from plain JSON data; see :meth:`parse`.

        ``text``: the JSON text from which it was read, if there is one.
        """
        version = data.get("schema_version")
        if not isinstance(version, int) or isinstance(version, bool):
            raise BadInput(
                f"{cls.__name__} without a schema_version.", where=where, remedy="It was not written by memeval."
            )
        if version > cls.SCHEMA:
            raise NewerSchema(
                f"{cls.__name__} has schema version {version}, and this memeval reads {cls.SCHEMA}.",
                where=where,
                remedy="Update memeval.",
            )
        if version < cls.SCHEMA:
            raise BadInput(
                f"{cls.__name__} has schema version {version}, and this memeval reads {cls.SCHEMA}.",
                where=where,
                remedy="Record it again, or use the memeval that wrote it.",
            )
        return validated(cls, data, where, text)


def comparable_digest(rows: Iterable[Stored]) -> Digest:
    """Return a digest of rows that is equal for equal runs.

    It leaves out the fields that differ between them, such as clocks.
    """
    inside = hashlib.sha256()
    for row in rows:
        inside.update(row.comparable_json() + b"\n")
    return "sha256:" + inside.hexdigest()


def subclasses(record: type[R]) -> Iterator[type[R]]:
    """Yield all imported subclasses of a record, at any depth."""
    for each in record.__subclasses__():
        yield each
        yield from subclasses(each)


def validated(model: type[R], data: Any, where: object, text: bytes | None = None) -> R:
    """Build ``model`` from plain JSON data.

    ``text``: the text from which it was read, if there is one: else it is written again. Raises ``BadInput`` if the
    data does not match the record; the message names the first problem.
    """
    try:
        return model.model_validate_json(json.dumps(data) if text is None else text)
    except ValidationError as error:
        raise BadInput(misfit(model, error), where=where) from None
    except RecursionError:
        raise BadInput("the data is nested too deep to be a record.", where=where) from None


def parsed(text: str | bytes) -> Any:
    """Return the data of JSON text, in which each object has each key once.

    Python's own parser names what is wrong. The quicker one takes nothing that Python's does not take.

    Raises ``ValueError`` if it is not valid JSON, or a key occurs twice. Raises ``RecursionError`` if it is nested too
    deep.
    """
    if isinstance(text, bytes):
        with suppress(ValueError):
            return jiter.from_json(text, catch_duplicate_keys=True)
        text = text.decode()
    return json.loads(text, object_pairs_hook=once_each)


class RepeatedKey(ValueError):
    """A JSON object has a key twice."""

    def __init__(self, name: str) -> None:
        self.name = name if len(name) <= LONGEST_KEY else f"{name[:LONGEST_KEY]}…"
        """The key, cut to ``LONGEST_KEY`` characters."""
        super().__init__(f"the key {self.name!r} occurs twice")


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object with each key once; for ``json.loads(object_pairs_hook=...)``.

    Raises ``RepeatedKey`` if a key occurs twice.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _value in pairs:
            if name in seen:
                raise RepeatedKey(name)
            seen.add(name)
    return made


def misfit(model: type[BaseModel], error: ValidationError) -> str:
    """Return the first validation error as a sentence, with a suggestion for a misspelt key."""
    first = first_misfit(error)
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][-1])
        return f"unknown key '{path}'. {did_you_mean(name, _field_names(model, first['loc'][:-1]))}".rstrip()
    if first["type"] == "missing":
        return f"'{path}' is missing."
    if first["type"] == "json_invalid":
        return f"not valid JSON ({first['msg'].removeprefix('Invalid JSON: ')})."
    if first["type"] == "string_pattern_mismatch":
        return f"'{path}' does not have the required form."
    if first["type"] in EXPECTED:
        return f"'{path}': {EXPECTED[first['type']]} belongs here."
    return f"'{path}': {first['msg']}."


def first_misfit(error: ValidationError) -> ErrorDetails:
    """Return the first validation error.

    An unknown key comes before every other error: a misspelt key also makes the required key missing.
    """
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    return next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])


def _field_names(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the field names of every record type that is allowed at ``path`` inside ``model``.

    A path consists of fields, keys and indices of containers, and tags of a union.
    """
    here = [model]
    for part in map(str, path):
        fields = [kind.model_fields[part] for kind in here if part in kind.model_fields]
        if fields:
            here = [nested for field in fields for nested in _models_in(field.annotation)] or here
        else:
            here = [kind for kind in here if any(f.default == part for f in kind.model_fields.values())] or here
    return [name for kind in here for name in kind.model_fields]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
