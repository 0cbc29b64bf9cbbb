"""Any record at all, made from what its fields say of themselves."""

import types
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, JsonValue
from pydantic.fields import FieldInfo

from memeval.records.dates import Day, Moment
from memeval.records.names import looks_like

M = TypeVar("M", bound=BaseModel)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(),
    float: FLOATS,
    str: st.text(max_size=12),
    type(None): st.none(),
}
DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
DIGESTS = st.integers(0, 2**256 - 1).map(lambda number: f"sha256:{number:064x}")  # many times faster than the pattern
CHECKED = {
    get_args(Day)[-1]: st.dates(date(2000, 1, 1), date(2099, 12, 31)).map(date.isoformat),
    get_args(Moment)[-1]: st.datetimes(datetime(1970, 1, 1), timezones=st.just(UTC)).map(datetime.isoformat),
}
"""Texts by the validator that checks them."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@cache
def records(model: type[M]) -> st.SearchStrategy[M]:
    """Return a strategy for every record of a model; fields with a default are left to it at times."""
    hints = get_type_hints(model, include_extras=True)
    needed: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        if name == "schema_version":
            continue
        kind = needed if field.is_required() else optional
        kind[name] = values(hints[name], tuple(field.metadata))
    return st.fixed_dictionaries(needed, optional=optional).map(lambda data: model(**data))


def values(annotation: Any, limits: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a type, within the limits that its annotations set."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is JsonValue:
        return JSON
    if origin is Annotated:
        return values(parts[0], (*limits, *(each for part in parts[1:] for each in _flat(part))))
    if origin in (Union, types.UnionType):
        return st.one_of([values(part, limits) for part in parts])
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple:
        return st.lists(values(parts[0]), min_size=_limit(limits, "min_length") or 0, max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(parts[0]), values(parts[1]), max_size=2)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return records(annotation)
    return _scalar(annotation, limits)


def _scalar(annotation: Any, limits: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    low, high, above = _limit(limits, "ge"), _limit(limits, "le"), _limit(limits, "gt")
    if annotation is float and (low, high, above) != (None, None, None):
        least = low if above is None else above
        return st.floats(least, high, exclude_min=above is not None, allow_nan=False, allow_infinity=False)
    if annotation is int and low is not None:
        return st.integers(low, high)
    validator = next((each for each in limits if isinstance(each, AfterValidator)), None)
    if validator in CHECKED:
        return CHECKED[validator]
    if annotation is str and _limit(limits, "pattern") == DIGEST_PATTERN:
        return DIGESTS
    if annotation is str and (pattern := _limit(limits, "pattern")):
        least, most = _limit(limits, "min_length") or 0, _limit(limits, "max_length") or 1000
        fitting = st.from_regex(pattern, fullmatch=True).filter(lambda text: least <= len(text) <= most)
        return fitting if validator is None else fitting.filter(lambda text: looks_like(text) is None)
    if annotation is str:
        return st.text(min_size=_limit(limits, "min_length") or 0, max_size=12)
    return PLAIN[annotation]


def _flat(part: Any) -> tuple[Any, ...]:
    return tuple(part.metadata) if isinstance(part, FieldInfo) else (part,)


def _limit(limits: tuple[Any, ...], name: str) -> Any:
    return next((found for limit in limits if (found := getattr(limit, name, None)) is not None), None)
