"""Rules for the fields of a submission, beyond their types."""

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from memeval.records.base import SLUG_LENGTH, canonical_json
from memeval.records.submission import AdapterKind, Configuration, Submission, variant_slug
from memeval.systems.channel import visible
from memeval.toml import Keys

TOOL_CALLS = ("forget", "ingest_session", "query", "recall", "reflect", "reset", "retain", "search", "settle")
"""The calls that a tool of an MCP server can make, as its driver knows them."""

SELF_REPORTED = ("tokens", "usage")

PLACEHOLDER = "placeholder"
"""The only allowed value of a variable with the name of a secret."""

VALUE_LENGTH = 4096
TEXT_LENGTH = 2000
"""The most characters of a variable's value, and of any other text."""

_MEMEVAL_VARIABLES = re.compile(
    r"(PATH|HOME|USER|SHELL|LANG|LC_.*|TMPDIR|TEMP|TMP|IFS|ENV|BASH_.*|LD_.*|DYLD_.*|PYTHON.*|NODE_OPTIONS|NODE_PATH"
    r"|MEMEVAL.*|OPENAI_.*|ANTHROPIC_.*|OLLAMA_.*|AWS_.*|GITHUB_.*|GH_.*|(HTTP|HTTPS|ALL|NO)_PROXY)"
)
_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")


@dataclass(frozen=True)
class RuleViolation:
    keys: Keys
    """The path of the invalid value, from the top of the file."""
    problem: str
    remedy: str


def _unprintable_texts(submission: Submission) -> Iterator[RuleViolation]:
    """Texts for people are printable, not too long, and not blank."""
    texts: list[tuple[Keys, str | None]] = [
        (("name",), submission.name),
        (("version",), submission.version),
        (("homepage",), submission.homepage),
        (("summary",), submission.summary),
        (("conflict_of_interest",), submission.conflict_of_interest),
        *((("variants", name, "summary"), each.summary) for name, each in submission.variants.items()),
        *(
            (("variants", name, "declared_models", number), model)
            for name, each in submission.variants.items()
            for number, model in enumerate(each.declared_models)
        ),
        *((("authors", number), author) for number, author in enumerate(submission.authors)),
        *((("storage", name), text) for name, text in submission.storage or () if isinstance(text, str)),
        *((("declared_models", number), model) for number, model in enumerate(submission.declared_models)),
        *((("command", number), word) for number, word in enumerate(submission.command)),
    ]
    if submission.interests is not None:
        texts.append((("interests", "product"), submission.interests.product))
        texts.append((("interests", "relation"), submission.interests.relation))
    if submission.vendor is not None:
        texts.append((("vendor", "name"), submission.vendor.name))
    if submission.product is not None:
        texts += ((("product", name), text) for name, text in submission.product if isinstance(text, str))
    for keys, configuration in _configurations(submission):
        texts += (((*keys, name), text) for name, text in configuration if isinstance(text, str))
        texts += (
            ((*keys, name, number), text)
            for name in ("replaced", "caveats")
            for number, text in enumerate(getattr(configuration, name))
        )
    for keys, text in texts:
        if text is None:
            continue
        prose = text.replace("\n", "") if keys[0] in ("summary", "conflict_of_interest") else text
        if not prose.isprintable():
            yield RuleViolation(keys, f"'{keys[0]}' has a character that is not printable.", "Remove it.")
        elif not text.strip():
            yield RuleViolation(keys, f"'{keys[0]}' is blank.", "Fill it in, or remove the line.")
        elif len(text) > TEXT_LENGTH:
            yield RuleViolation(keys, f"'{keys[0]}' has more than {TEXT_LENGTH} characters.", "Shorten it.")


def _kind(submission: Submission) -> Iterator[RuleViolation]:
    kind, fields = submission.kind, submission.model_fields_set
    if kind is AdapterKind.PYTHON:
        for name in ("command", "endpoint"):
            if name in fields:
                yield RuleViolation(
                    (name,), f"'{name}' does not go with kind 'python'.", "Remove it, or correct 'kind'."
                )
        return
    if "entry" in fields:
        yield RuleViolation(("entry",), f"'entry' does not go with kind '{kind}'.", "Name the program in 'command'.")
    if kind is AdapterKind.COMMAND:
        if submission.endpoint is not None:
            yield RuleViolation(
                ("endpoint",), "'endpoint' does not go with kind 'command'.", "Use kind http, daemon or mcp for it."
            )
        if not submission.command:
            yield RuleViolation(
                ("kind",), "kind 'command' needs a 'command'.", 'Add a line: command = ["node", "adapter.mjs"]'
            )
    elif submission.command and submission.endpoint is not None:
        yield RuleViolation(("endpoint",), "both 'command' and 'endpoint' are given.", "Keep one of them.")
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
            yield RuleViolation(("tools",), f"'tools' does not go with kind '{submission.kind}'.", "Remove the tables.")
        return
    for call in submission.tools:
        if call not in TOOL_CALLS:
            yield RuleViolation(
                ("tools", call),
                f"'{visible(call)}' is not a call that a tool can be mapped to.",
                f"Use one of {', '.join(TOOL_CALLS)}.",
            )
    mapped = set(submission.tools)
    if not mapped & {"retain", "ingest_session"} or not mapped & {"search", "query"}:
        yield RuleViolation(
            ("tools",) if submission.tools else ("kind",),
            "kind 'mcp' needs a tool for 'retain' or 'ingest_session', and one for 'search' or 'query'.",
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
            "Write for example Apache-2.0, MIT OR Apache-2.0, or LicenseRef-Proprietary.",
        )


def _homepage(submission: Submission) -> Iterator[RuleViolation]:
    pages: list[tuple[Keys, str | None]] = [(("homepage",), submission.homepage)]
    if submission.product is not None:
        pages.append((("product", "homepage"), submission.product.homepage))
    for keys, page in pages:
        if page is not None and not _is_web_address(page):
            yield RuleViolation(keys, "'homepage' is not a web address.", "Begin it with https://.")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and " " not in text
    except ValueError:
        return False


def _variables(submission: Submission) -> Iterator[RuleViolation]:
    """Environment variables are not memeval's, have one use each, and hold no secret."""
    variables: list[tuple[Keys, str]] = [(("variables", name), name) for name in submission.variables]
    hosts, services = submission.hosts, submission.services
    variables += [(("hosts", number, "variable"), host.variable) for number, host in enumerate(hosts)]
    variables += [(("services", number, "variable"), service.variable) for number, service in enumerate(services)]
    variables += [(("hosts", number, "key"), host.key) for number, host in enumerate(hosts) if host.key]
    used: set[str] = set()
    for keys, name in variables:
        if _MEMEVAL_VARIABLES.fullmatch(name):
            yield RuleViolation(keys, f"memeval sets the variable {name} itself.", "Use another name.")
        elif name in used:
            yield RuleViolation(keys, f"the variable {name} is used twice.", "Use another name for one of them.")
        used.add(name)
    for name, value in submission.variables.items():
        if "\0" in value or len(value) > VALUE_LENGTH:
            yield RuleViolation(
                ("variables", name),
                f"the value of {name} has a NUL or more than {VALUE_LENGTH} characters.",
                "Use a shorter text without NUL.",
            )
        if _SECRET.search(name) and value != PLACEHOLDER:
            yield RuleViolation(
                ("variables", name),
                f"{name} has the name of a secret, and a submission holds no secrets.",
                f"Declare it as the 'key' of a host, or set it to '{PLACEHOLDER}'.",
            )
    yield from _hosts(submission)
    yield from _duplicates("hosts", [host.host for host in hosts], "host")
    yield from _duplicates("services", [str(service.name) for service in services], "name")


def _hosts(submission: Submission) -> Iterator[RuleViolation]:
    from memeval.gateway.endpoints import MAKERS
    from memeval.gateway.serving.hosts import is_named_for, key_example

    for number, host in enumerate(submission.hosts):
        keys: Keys = ("hosts", number, "host")
        if host.host in {maker for maker, _name, _models in MAKERS}:
            yield RuleViolation(
                keys, f"memeval itself calls the models of {host.host}.", "List them in declared_models."
            )
        elif host.host.rpartition(".")[2].isdigit():
            yield RuleViolation(keys, f"'{host.host}' is an IP address.", "Declare the host by its name.")
        elif host.key is not None and not is_named_for(host.key, host.host):
            yield RuleViolation(
                ("hosts", number, "key"),
                f"the variable {host.key} does not name {host.host}, so it may hold the key of another host.",
                f"Begin its name with the host's, for example {key_example(host.host)}.",
            )


def _duplicates(table: str, names: list[str], field: str) -> Iterator[RuleViolation]:
    for number, name in enumerate(names):
        if name in names[:number]:
            yield RuleViolation((table, number, field), f"'{name}' is listed twice.", "Keep one of them.")


def _endpoint(submission: Submission) -> Iterator[RuleViolation]:
    if submission.endpoint is None:
        return
    keys: Keys = ("endpoint",)
    remedy = "Write for example https://api.example.com/v1."
    try:
        parts = urlsplit(submission.endpoint)
        port = parts.port
    except ValueError:
        yield RuleViolation(keys, "'endpoint' is not a URL.", remedy)
        return
    if parts.scheme == "http" and parts.hostname and submission.endpoint.isprintable():
        yield RuleViolation(
            keys,
            "'endpoint' is not an https URL.",
            f"For your own server, make up a host name: write https://my-server.example.com, declare it in [[hosts]], "
            f"and run with --host my-server.example.com=http://{parts.netloc}.",
        )
    elif parts.scheme != "https" or not parts.hostname or not submission.endpoint.isprintable():
        yield RuleViolation(keys, "'endpoint' is not an https URL.", remedy)
    elif parts.username is not None or port is not None or parts.query or parts.fragment:
        yield RuleViolation(keys, "'endpoint' has more than a host and a path.", remedy)
    elif parts.hostname not in {host.host for host in submission.hosts}:
        yield RuleViolation(
            keys, f"the host of 'endpoint', {visible(parts.hostname)}, is not declared.", "Add it to [[hosts]]."
        )


def _parameters(submission: Submission) -> Iterator[RuleViolation]:
    parameters: list[Keys] = [("parameters", name) for name in submission.parameters]
    parameters += [
        ("variants", n, "parameters", name) for n, each in submission.variants.items() for name in each.parameters
    ]
    for keys in parameters:
        name = str(keys[-1])
        if not name.isidentifier() or keyword.iskeyword(name):
            yield RuleViolation(
                keys, f"'{visible(name)}' is not a valid name of a parameter.", "Use letters, digits and underscores."
            )


def _variants(submission: Submission) -> Iterator[RuleViolation]:
    """Names of variants are not too long, and each variant has other parameters."""
    known = {"the submission itself": canonical_json(submission.parameters)}
    for name, variant in submission.variants.items():
        keys: Keys = ("variants", name)
        if len(slug := variant_slug(submission.slug, name)) > SLUG_LENGTH:
            yield RuleViolation(keys, f"'{slug}' has more than {SLUG_LENGTH} characters.", "Give it a shorter name.")
        parameters = canonical_json(submission.parameters | variant.parameters)
        if (same := next((other for other, theirs in known.items() if theirs == parameters), None)) is not None:
            yield RuleViolation(
                keys,
                f"the variant '{name}' has the parameters of {same}.",
                "Change a parameter, or remove the variant.",
            )
        known[f"the variant '{name}'"] = parameters


def _word_lists(submission: Submission) -> Iterator[RuleViolation]:
    for number, word in enumerate(submission.self_reported):
        if word not in SELF_REPORTED:
            yield RuleViolation(
                ("self_reported", number),
                f"'{visible(word)}' cannot be self-reported.",
                f"Use {' or '.join(SELF_REPORTED)}.",
            )
    yield from _repeated_words("self_reported", submission.self_reported)
    yield from _repeated_words("declared_models", submission.declared_models)
    for name in submission.variants:
        yield from _repeated_words("variants", submission.varied(name).declared_models)


def _repeated_words(field: str, words: tuple[str, ...]) -> Iterator[RuleViolation]:
    if len(set(words)) < len(words):
        yield RuleViolation((field,), f"'{field}' has a duplicate.", "List each once.")


def _vendor(submission: Submission) -> Iterator[RuleViolation]:
    vendor = submission.vendor
    if vendor is None:
        return
    if not submission.hosts:
        yield RuleViolation(
            ("vendor",), "[vendor] is for hosted products, and no host is declared.", "Add [[hosts]], or remove it."
        )


def _product(submission: Submission) -> Iterator[RuleViolation]:
    product = submission.product
    if product is not None and product.licence is not None and product.licence_digest is not None:
        yield RuleViolation(
            ("product", "licence_digest"),
            "both 'licence' and 'licence_digest' are given.",
            "Keep 'licence' if the package's metadata states it, else 'licence_digest'.",
        )


def _configuration(submission: Submission) -> Iterator[RuleViolation]:
    for keys, configuration in _configurations(submission):
        if not configuration.model_fields_set:
            yield RuleViolation(
                keys, "[configuration] is empty.", "State model, embedder, mode, replaced or caveats, or remove it."
            )
    if submission.mock and not (submission.configuration and submission.configuration.replaced):
        yield RuleViolation(
            ("mock",),
            "a mock does not state what it replaces.",
            'Add it to [configuration]: replaced = ["the LLM, by a scripted model"]',
        )


def _configurations(submission: Submission) -> Iterator[tuple[Keys, Configuration]]:
    if submission.configuration is not None:
        yield ("configuration",), submission.configuration
    for name, variant in submission.variants.items():
        if variant.configuration is not None:
            yield ("variants", name, "configuration"), variant.configuration


def _storage(submission: Submission) -> Iterator[RuleViolation]:
    storage = submission.storage
    if storage is None:
        return
    if submission.endpoint is not None:
        yield RuleViolation(
            ("storage",), "[storage] does not go with an 'endpoint': memeval cannot restart that server.", "Remove it."
        )
    if submission.services:
        yield RuleViolation(
            ("storage",),
            "[storage] does not go with [[services]], which are new for every process.",
            "Let the adapter start the server in its storage folder, and stop it in close().",
        )
    if storage.documentation is not None and not _is_web_address(storage.documentation):
        yield RuleViolation(
            ("storage", "documentation"), "'documentation' is not a web address.", "Begin it with https://."
        )


def _light(submission: Submission) -> Iterator[RuleViolation]:
    if submission.light and (submission.declared_models or submission.hosts or submission.services):
        yield RuleViolation(
            ("light",), "a system that needs models, hosts or services is not light.", "Remove the line."
        )


RULES = (
    *(_unprintable_texts, _kind, _entry, _tools, _licence, _homepage, _variables, _endpoint, _parameters, _variants),
    *(_word_lists, _vendor, _product, _configuration, _storage, _light),
)


def broken_rules(submission: Submission) -> Iterator[RuleViolation]:
    return (violation for rule in RULES for violation in rule(submission))
