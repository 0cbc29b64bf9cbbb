"""A new submission: a small memory that works, to put another in the place of."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.records.submission import AdapterKind
from memeval.systems.source import MANIFEST, SLUG_LENGTH, examined_folder

README = "README.md"

LOCK = """\
# The packages that this submission needs, one version each, with digests. Name them in requirements.in and run
#   uv pip compile --generate-hashes --universal requirements.in -o requirements.lock
# This one needs none.
"""

COMMANDS: Mapping[AdapterKind, tuple[str, ...]] = {
    AdapterKind.COMMAND: ("node", "adapter.mjs"),
    AdapterKind.HTTP: ("python3", "server.py", "{port}"),
    AdapterKind.DAEMON: ("python3", "server.py", "{port}"),
    AdapterKind.MCP: ("python3", "server.py"),
}
"""What starts the program of each kind."""

TOOLS = """
[tools.retain]
name = "add_memory"
arguments = { content = "{content}", id = "{id}", time = "{timestamp}" }

[tools.search]
name = "search_memory"
arguments = { query = "{query}", limit = "{k}", time = "{timestamp}" }
result = "items"

[tools.reset]
name = "clear_memory"
"""
"""Which tool of the scaffolded MCP server stands for which call."""

REPLACE = {
    AdapterKind.PYTHON: "`adapter.py`: the class `Memory`",
    AdapterKind.COMMAND: "`adapter.mjs`: the calls at its end",
    AdapterKind.HTTP: "`memory.py`: the class `Memory`; `server.py` speaks memeval's HTTP contract",
    AdapterKind.DAEMON: "`memory.py`: the class `Memory`; `server.py` speaks as the jeffs-brain daemons do",
    AdapterKind.MCP: "`memory.py`: the class `Memory`; `server.py` is the server with its tools",
}
"""What of each kind is to be replaced."""


@dataclass(frozen=True)
class Answers:
    """What ``memeval submit new`` asks."""

    name: str
    """What the system is called."""
    kind: AdapterKind = AdapterKind.PYTHON
    """How memeval talks to it."""
    licence: str = "Apache-2.0"
    """SPDX expression of its licence."""
    summary: str = ""
    """What it is, in a sentence."""
    author: str = ""
    """Who wrote it."""
    models: tuple[str, ...] = ()
    """Models it uses."""


def slug_of(name: str) -> str:
    """Return the slug of a name; of a letter with an accent the letter stays.

    Raises:
        BadInput: nothing of the name can stand in one.
    """
    letters = "".join(
        each for each in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(each)
    )
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:SLUG_LENGTH].strip("-")
    if not slug:
        raise BadInput(
            f"'{name}' has no letter or digit that a folder could be called by.", remedy="Take another name."
        )
    return slug


def scaffold(answers: Answers, submissions: Path, templates: Path) -> Path:
    """Write a submission that passes the check as it is, and return its folder.

    Args:
        answers: what it is to be.
        submissions: the folder it is made in.
        templates: the folder of the files of each kind.

    Raises:
        BadInput: it is there already, or an answer cannot be; nothing is written then.
    """
    slug = slug_of(answers.name)
    folder = submissions / slug
    if folder.exists() or folder.is_symlink():
        raise BadInput("is there already.", where=folder, remedy="Take another name; nothing is overwritten.")
    try:
        submissions.mkdir(parents=True, exist_ok=True)
        # Made beside its place and renamed: it appears whole or not at all.
        with tempfile.TemporaryDirectory(prefix=".new-", dir=submissions) as beside:
            making = Path(beside) / slug
            making.mkdir()
            for path in _template_files(answers.kind, templates):
                shutil.copyfile(path, making / path.name)
            for name, text in _texts(answers, slug, folder).items():
                (making / name).write_text(text, "utf-8")
            _, faults = examined_folder(making)
            if faults:
                raise BadInput(faults[0].problem, remedy=faults[0].remedy)
            making.rename(folder)
    except OSError as error:
        raise BadInput(
            f"cannot be written ({error.strerror or error}).", where=folder, remedy="Name another folder with --to."
        ) from None
    return folder


def _template_files(kind: AdapterKind, templates: Path) -> list[Path]:
    folders = [templates / kind]
    if kind in (AdapterKind.HTTP, AdapterKind.DAEMON, AdapterKind.MCP):
        folders.append(templates / "shared")
    return sorted(path for folder in folders for path in folder.iterdir() if path.is_file())


def _texts(answers: Answers, slug: str, folder: Path) -> dict[str, str]:
    """Return the files that follow from the answers, by name."""
    texts = {MANIFEST: manifest_text(answers, slug), README: _readme(answers, slug, folder)}
    if answers.kind is not AdapterKind.COMMAND:
        texts["requirements.lock"] = LOCK
    return texts


def manifest_text(answers: Answers, slug: str) -> str:
    """Return a ``submission.toml``; what was not answered is left out."""
    fields: dict[str, object] = {
        "schema_version": 1,
        "slug": slug,
        "name": answers.name,
        "version": "0.1.0",
        "kind": answers.kind.value,
        **({"command": list(COMMANDS[answers.kind])} if answers.kind in COMMANDS else {"entry": "adapter.py:Memory"}),
        **({"authors": [answers.author]} if answers.author else {}),
        "licence": answers.licence,
        **({"summary": answers.summary} if answers.summary else {}),
        **({"declared_models": list(answers.models)} if answers.models else {}),
    }
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(lines) + "\n" + (TOOLS if answers.kind is AdapterKind.MCP else "")


def _readme(answers: Answers, slug: str, folder: Path) -> str:
    head = f"# {answers.name}\n\n" + (f"{answers.summary}\n\n" if answers.summary else "")
    return (
        f"{head}"
        f"To be replaced: {REPLACE[answers.kind]}.\n\n"
        "Say here what it does with event time, with both speakers, with indexing in the background, and what it\n"
        "cannot do; and what ties you to any system on the board.\n\n"
        f"```\nmemeval submit check {folder}\nmemeval run {folder} --benchmark beliefs@1\n```\n"
    )
