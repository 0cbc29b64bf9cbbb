"""What the fields of a submission demand of one another and of the world, beyond their types."""

from __future__ import annotations

import datetime
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from memeval.records.base import SLUG_LENGTH, canonical_json
from memeval.records.submission import AdapterKind, Submission, variant_slug
from memeval.systems.output import visible
from memeval.systems.toml_lines import Keys

TOOL_CALLS = ("forget", "query", "recall", "reflect", "reset", "retain", "search")
"""Calls of the adapter contract that a tool may stand for."""

SELF_REPORTED = ("tokens", "usage")
"""What a system may give its own account of."""

PLACEHOLDER = "placeholder"
"""The one value of a variable that is named like a secret."""

VALUE_LENGTH = 4096
TEXT_LENGTH = 2000
"""Characters of a variable's value, and of any other text."""

_TAKEN = re.compile(
    r"(PATH|HOME|USER|SHELL|LANG|LC_.*|TMPDIR|TEMP|TMP|IFS|ENV|BASH_.*|LD_.*|DYLD_.*|PYTHON.*|NODE_OPTIONS|NODE_PATH"
    r"|MEMEVAL.*|OPENAI_.*|ANTHROPIC_.*|OLLAMA_.*|AWS_.*|GITHUB_.*|GH_.*|(HTTP|HTTPS|ALL|NO)_PROXY)"
)
_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")


@dataclass(frozen=True)
class RuleViolation:
    """A rule that a submission breaks."""

    keys: Keys
    """The value at fault, from the top of the file down."""
    problem: str
    """What is wrong, as a sentence."""
    remedy: str
    """What to do, as a sentence."""


def broken_rules(submission: Submission) -> Iterator[RuleViolation]:
    """Yield every rule that a submission breaks."""
    yield from _texts(submission)
    yield from _kind(submission)
    yield from _entry(submission)
    yield from _tools(submission)
    yield from _licence(submission)
    yield from _homepage(submission)
    yield from _variables(submission)
    yield from _endpoint(submission)
    yield from _parameters(submission)
    yield from _variants(submission)
    yield from _words(submission)
    yield from _vendor(submission)
    yield from _light(submission)


def _texts(submission: Submission) -> Iterator[RuleViolation]:
    """Texts that people read are printable, in bounds, and not blank."""
    told: list[tuple[Keys, str | None]] = [
        (("name",), submission.name),
        (("version",), submission.version),
        (("homepage",), submission.homepage),
        (("summary",), submission.summary),
        (("label",), submission.label),
        (("conflict_of_interest",), submission.conflict_of_interest),
        *((("variants", name, "summary"), each.summary) for name, each in submission.variants.items()),
        *(
            (("variants", name, "declared_models", place), model)
            for name, each in submission.variants.items()
            for place, model in enumerate(each.declared_models)
        ),
        *((("authors", place), author) for place, author in enumerate(submission.authors)),
        *((("declared_models", place), model) for place, model in enumerate(submission.declared_models)),
        *((("command", place), word) for place, word in enumerate(submission.command)),
    ]
    if submission.vendor is not None:
        told.append((("vendor", "name"), submission.vendor.name))
    for keys, text in told:
        if text is None:
            continue
        if not text.isprintable() and not (keys[0] in ("summary", "conflict_of_interest") and _is_prose(text)):
            yield RuleViolation(keys, f"'{keys[0]}' holds a character that cannot be shown.", "Take it out.")
        elif not text.strip():
            yield RuleViolation(keys, f"'{keys[0]}' is blank.", "Fill it in, or leave the line out.")
        elif len(text) > TEXT_LENGTH:
            yield RuleViolation(keys, f"'{keys[0]}' has more than {TEXT_LENGTH} characters.", "Shorten it.")


def _is_prose(text: str) -> bool:
    return text.replace("\n", "").isprintable()


def _kind(submission: Submission) -> Iterator[RuleViolation]:
    kind, given = submission.kind, submission.model_fields_set
    if kind is AdapterKind.PYTHON:
        for name in ("command", "endpoint"):
            if name in given:
                yield RuleViolation(
                    (name,), f"'{name}' does not go with kind 'python'.", "Take it out, or name the kind it is for."
                )
        return
    if "entry" in given:
        yield RuleViolation(("entry",), f"'entry' does not go with kind '{kind}'.", "Name the program in 'command'.")
    if kind is AdapterKind.COMMAND:
        if submission.endpoint is not None:
            yield RuleViolation(
                ("endpoint",), "'endpoint' does not go with kind 'command'.", "Take kind http, daemon or mcp for it."
            )
        if not submission.command:
            yield RuleViolation(
                ("kind",), "kind 'command' needs a 'command'.", 'Add a line: command = ["node", "adapter.mjs"]'
            )
    elif submission.command and submission.endpoint is not None:
        yield RuleViolation(("endpoint",), "'command' and 'endpoint' are both there.", "Keep one of them.")
    elif not submission.command and submission.endpoint is None:
        yield RuleViolation(
            ("kind",),
            f"kind '{kind}' needs a 'command' that starts the server, or the 'endpoint' of one that runs.",
            'Add a line: command = ["./server", "--port", "{port}"]',
        )


def _entry(submission: Submission) -> Iterator[RuleViolation]:
    file, colon, class_name = submission.entry.partition(":")
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts or "\\" in file or not file.isprintable():
        yield RuleViolation(
            ("entry",), f"the entry '{visible(file)}' is not a path inside this folder.", "Name a file in it."
        )
    elif not file.endswith(".py"):
        yield RuleViolation(("entry",), f"the entry '{visible(file)}' is not a .py file.", "Name the adapter's file.")
    if colon and not class_name.isidentifier():
        yield RuleViolation(
            ("entry",), f"'{visible(class_name)}' is not the name of a class.", "Write adapter.py:MyMemory."
        )


def _tools(submission: Submission) -> Iterator[RuleViolation]:
    if submission.kind is not AdapterKind.MCP:
        if "tools" in submission.model_fields_set:
            yield RuleViolation(
                ("tools",), f"'tools' does not go with kind '{submission.kind}'.", "Take the tables out."
            )
        return
    for call in submission.tools:
        if call not in TOOL_CALLS:
            yield RuleViolation(
                ("tools", call),
                f"'{visible(call)}' is not a call that a tool can stand for.",
                f"Take one of {', '.join(TOOL_CALLS)}.",
            )
    if "retain" not in submission.tools or not {"search", "query", "recall", "reflect"} & set(submission.tools):
        yield RuleViolation(
            ("tools",) if submission.tools else ("kind",),
            "kind 'mcp' needs a tool for 'retain', and one for 'search' or 'query'.",
            "Add a table for each: [tools.retain], [tools.search].",
        )


def _licence(submission: Submission) -> Iterator[RuleViolation]:
    if submission.licence is None:
        return
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        canonicalize_license_expression(submission.licence)
    except InvalidLicenseExpression:
        yield RuleViolation(
            ("licence",),
            f"'{visible(submission.licence)}' is not an SPDX licence expression.",
            "Write it as in Apache-2.0, MIT OR Apache-2.0, or LicenseRef-Proprietary.",
        )


def _homepage(submission: Submission) -> Iterator[RuleViolation]:
    if submission.homepage is not None and not _is_web_address(submission.homepage):
        yield RuleViolation(("homepage",), "'homepage' is not an address of the web.", "Begin it with https://.")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and " " not in text
    except ValueError:
        return False


def _variables(submission: Submission) -> Iterator[RuleViolation]:
    """Environment variables are nobody else's, stand for one thing each, and hold no secret."""
    named: list[tuple[Keys, str]] = [(("variables", name), name) for name in submission.variables]
    named += [(("hosts", place, "variable"), host.variable) for place, host in enumerate(submission.hosts)]
    named += [(("services", place, "variable"), service.variable) for place, service in enumerate(submission.services)]
    named += [(("hosts", place, "key"), host.key) for place, host in enumerate(submission.hosts) if host.key]
    seen: set[str] = set()
    for keys, name in named:
        if _TAKEN.fullmatch(name):
            yield RuleViolation(keys, f"the variable {name} is memeval's to set.", "Take another name.")
        elif name in seen:
            yield RuleViolation(keys, f"the variable {name} stands for two things.", "Give each a name of its own.")
        seen.add(name)
    for name, value in submission.variables.items():
        if "\0" in value or len(value) > VALUE_LENGTH:
            yield RuleViolation(
                ("variables", name),
                f"the value of {name} holds a NUL or more than {VALUE_LENGTH} characters.",
                "Give a shorter text.",
            )
        if _SECRET.search(name) and value != PLACEHOLDER:
            yield RuleViolation(
                ("variables", name),
                f"{name} is named like a secret, and a submission holds none.",
                f"Name it as the key of a host, or give it the value '{PLACEHOLDER}'.",
            )
    yield from _hosts(submission)
    yield from _twice("hosts", [host.host for host in submission.hosts], "host")
    yield from _twice("services", [str(service.name) for service in submission.services], "name")


def _hosts(submission: Submission) -> Iterator[RuleViolation]:
    from memeval.gateway.endpoints import MAKERS
    from memeval.gateway.serving.hosts import is_named_for, key_example

    for place, host in enumerate(submission.hosts):
        keys: Keys = ("hosts", place, "host")
        if host.host in {maker for maker, _name, _models in MAKERS}:
            yield RuleViolation(keys, f"models of {host.host} are reached by memeval.", "Name them in declared_models.")
        elif host.host.rpartition(".")[2].isdigit():
            yield RuleViolation(keys, f"'{host.host}' is an address, not a name.", "Declare the host by its name.")
        elif host.key is not None and not is_named_for(host.key, host.host):
            yield RuleViolation(
                ("hosts", place, "key"),
                f"the variable {host.key} is not named for {host.host}, so it may hold a key to another host.",
                f"Begin its name with a part of the host's, as in {key_example(host.host)}.",
            )


def _twice(table: str, names: list[str], field: str) -> Iterator[RuleViolation]:
    for place, name in enumerate(names):
        if name in names[:place]:
            yield RuleViolation((table, place, field), f"'{name}' stands there twice.", "Keep one of them.")


def _endpoint(submission: Submission) -> Iterator[RuleViolation]:
    if submission.endpoint is None:
        return
    keys: Keys = ("endpoint",)
    shape = "Write it as in https://api.example.com/v1."
    try:
        parts = urlsplit(submission.endpoint)
        port = parts.port
    except ValueError:
        yield RuleViolation(keys, "'endpoint' is not an address.", shape)
        return
    if parts.scheme == "http" and parts.hostname and submission.endpoint.isprintable():
        yield RuleViolation(
            keys,
            "'endpoint' is not an https address.",
            f"For a server of your own, invent a host: write https://my-server.example.com, declare it in [[hosts]], "
            f"and run with --host my-server.example.com=http://{parts.netloc}.",
        )
    elif parts.scheme != "https" or not parts.hostname or not submission.endpoint.isprintable():
        yield RuleViolation(keys, "'endpoint' is not an https address.", shape)
    elif parts.username is not None or port is not None or parts.query or parts.fragment:
        yield RuleViolation(keys, "'endpoint' has more than a host and a path.", shape)
    elif parts.hostname not in {host.host for host in submission.hosts}:
        yield RuleViolation(
            keys, f"the host of 'endpoint', {visible(parts.hostname)}, is not declared.", "Add it to [[hosts]]."
        )


def _parameters(submission: Submission) -> Iterator[RuleViolation]:
    named: list[Keys] = [("parameters", name) for name in submission.parameters]
    named += [
        ("variants", n, "parameters", name) for n, each in submission.variants.items() for name in each.parameters
    ]
    for keys in named:
        name = str(keys[-1])
        if not name.isidentifier() or keyword.iskeyword(name):
            yield RuleViolation(
                keys,
                f"'{visible(name)}' cannot be the name of a parameter.",
                "Take letters, digits and underscores.",
            )


def _variants(submission: Submission) -> Iterator[RuleViolation]:
    """Variants have names that fit beside the submission's own, and each is another set-up."""
    made = {"the submission itself": canonical_json(submission.parameters)}
    for name, variant in submission.variants.items():
        keys: Keys = ("variants", name)
        if len(slug := variant_slug(submission.slug, name)) > SLUG_LENGTH:
            yield RuleViolation(keys, f"'{slug}' has more than {SLUG_LENGTH} characters.", "Give it a shorter name.")
        parameters = canonical_json(submission.parameters | variant.parameters)
        if (same := next((other for other, theirs in made.items() if theirs == parameters), None)) is not None:
            yield RuleViolation(
                keys, f"the variant '{name}' has the parameters of {same}.", "Change a parameter, or take it out."
            )
        made[f"the variant '{name}'"] = parameters


def _words(submission: Submission) -> Iterator[RuleViolation]:
    for place, word in enumerate(submission.self_reported):
        if word not in SELF_REPORTED:
            yield RuleViolation(
                ("self_reported", place),
                f"'{visible(word)}' is nothing that can be self-reported.",
                f"Take {' or '.join(SELF_REPORTED)}.",
            )
    yield from _doubled("self_reported", submission.self_reported)
    yield from _doubled("declared_models", submission.declared_models)
    for name in submission.variants:
        yield from _doubled("variants", submission.varied(name).declared_models)


def _doubled(field: str, words: tuple[str, ...]) -> Iterator[RuleViolation]:
    if len(set(words)) < len(words):
        yield RuleViolation((field,), f"'{field}' names something twice.", "Name each once.")


def _vendor(submission: Submission) -> Iterator[RuleViolation]:
    vendor = submission.vendor
    if vendor is None:
        return
    if not submission.hosts:
        yield RuleViolation(
            ("vendor",), "[vendor] is for hosted products, and no host is declared.", "Add [[hosts]], or take it out."
        )
    for field in ("notified", "agreed"):
        day = getattr(vendor, field)
        if day is not None and not _is_day(day):
            yield RuleViolation(
                ("vendor", field), f"'{visible(day)}' is not a day of the calendar.", "Write it as 2026-01-31."
            )


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _light(submission: Submission) -> Iterator[RuleViolation]:
    if submission.light and (submission.declared_models or submission.hosts or submission.services):
        yield RuleViolation(
            ("light",), "a system that needs models, hosts or services is not light.", "Take the line out."
        )
