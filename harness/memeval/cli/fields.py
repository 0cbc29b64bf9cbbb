"""Commands whose options are the fields of records: name, type, default and help are written once, in the record."""

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

from memeval.flags import KEY, OptionForm

F = TypeVar("F", bound=Callable[..., Any])


class Only:
    """Which fields of a record a command offers: ``Annotated[RunOptions, Only("tier", "limit")]``."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, name: str) -> bool:
        return name in self.names


class Without(Only):
    """Which fields of a record a command does not offer."""

    def has(self, name: str) -> bool:
        return name not in self.names


@dataclass(frozen=True)
class FieldOf:
    """An option like that of a record, for a command that takes it alone: ``Annotated[Path, FieldOf(RunOptions)]``."""

    record: type


def command(app: typer.Typer, name: str) -> Callable[[F], F]:
    """Add a command to an application. A parameter whose type is a record becomes an option for each of its fields."""

    def add(function: F) -> F:
        app.command(name)(_Command(function))
        return function

    return add


class _Command:
    """A function whose signature is made when the command line needs it: other commands do not wait for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__annotations__ = {}

    @cached_property
    def _own(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self._function, eval_str=True).parameters)

    @cached_property
    def __signature__(self) -> inspect.Signature:
        made: list[inspect.Parameter] = []
        for name, own in self._own.items():
            record, chosen = _record_of(own.annotation)
            if record is not None:
                made += [option.parameter() for option in _options(record) if chosen.has(option.name)]
                continue
            given = get_args(own.annotation)[1:]
            like = next((each for each in given if isinstance(each, FieldOf)), None)
            if like is not None:
                own = next(option for option in _options(like.record) if option.name == name).parameter(own)
            made.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        return inspect.Signature(made)

    def __call__(self, **given: Any) -> Any:
        """Make the records, check their numbers, and call the function."""
        for name, own in self._own.items():
            record, chosen = _record_of(own.annotation)
            if record is not None:
                names = [option.name for option in _options(record) if chosen.has(option.name)]
                given[name] = _made(record, {option: given.pop(option) for option in names})
        return self._function(**given)


@dataclass(frozen=True)
class _Option:
    record: type
    field: Field[Any]
    flag: OptionForm

    @property
    def title(self) -> str:
        """Its name on the command line: ``--limit`` or ``--run/--no-run``."""
        return self.flag.name or f"--{self.field.name.replace('_', '-')}"

    @property
    def name(self) -> str:
        return self.title.partition("/")[0].lstrip("-").replace("-", "_")

    def parameter(self, own: inspect.Parameter | None = None) -> inspect.Parameter:
        """Return the parameter from which Typer makes the option; with the type and the default of a command's own."""
        kind: Any = eval(str(self.flag.kind or self.field.type), vars(sys.modules[self.record.__module__]))  # noqa: S307
        default = None if self.flag.read or self.field.default is MISSING else self.field.default
        if own is not None:
            kind, default = get_args(own.annotation)[0], own.default
        elif get_origin(kind) is tuple:
            kind, default = list[str] | None, None
        info = typer.Option(
            self.title,
            metavar=self.flag.metavar,
            envvar=self.flag.environment,
            help=_texts(self.record.__module__)[self.record.__name__, self.field.name],
        )
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
        )

    def value(self, given: Any) -> Any:
        if self.flag.read is not None:
            return self.flag.read(given)
        return tuple(given or ()) if self.field.default == () else given


def _record_of(annotation: Any) -> tuple[type | None, Only]:
    """Return the record of a parameter, and which of its fields are options; ``None`` for a parameter without one."""
    kind, *rest = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    chosen = next((each for each in rest if isinstance(each, Only)), Without())
    return (kind if isinstance(kind, type) and is_dataclass(kind) else None), chosen


def _inner(field: Field[Any]) -> type | None:
    kind: Any = field.default_factory
    return kind if KEY not in field.metadata and isinstance(kind, type) and is_dataclass(kind) else None


@cache
def _options(record: type) -> tuple[_Option, ...]:
    found: list[_Option] = []
    for field in fields(record):
        inner, flag = _inner(field), field.metadata.get(KEY, OptionForm())
        if inner is not None:
            found += _options(inner)
        elif flag is not None:
            found.append(_Option(record, field, flag))
    return tuple(found)


def _made(record: type, given: Mapping[str, Any]) -> Any:
    """Return a record with the given values, and the defaults of the other fields.

    Raises ``BadInput`` if a value is not valid.
    """
    values: dict[str, Any] = {}
    for field in fields(record):
        if (inner := _inner(field)) is not None:
            values[field.name] = _made(inner, given)
    for option in _options(record):
        if option.record is record and option.name in given:
            values[option.field.name] = option.value(given[option.name])
    made = record(**values)
    if (check := getattr(made, "check", None)) is not None:
        check()
    return made


@cache
def _texts(module: str) -> dict[tuple[str, str], str]:
    """Return the texts below the fields of the classes of a module, by class and field."""
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
    found = {}
    for each in tree.body:
        if isinstance(each, ast.ClassDef):
            for field, below in zip(each.body, each.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    name, text = field.target, below.value
                    if isinstance(name, ast.Name) and isinstance(text, ast.Constant):
                        found[each.name, name.id] = " ".join(str(text.value).split())
    return found
