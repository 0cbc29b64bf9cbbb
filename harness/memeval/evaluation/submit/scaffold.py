"""Creates a submission with sample code that works."""

import json
import shutil
import tempfile
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memeval.records import matrix
from memeval.records.base import SLUG_LENGTH
from memeval.records.errors import BadInput
from memeval.records.submission import AdapterKind
from memeval.storage import writable
from memeval.systems.manifest import MANIFEST
from memeval.systems.source import examined_folder

README = "README.md"

LOCK = """\
# The packages that this submission needs, with versions and hashes. List them in requirements.in, then run:
#   uv pip compile --generate-hashes --universal requirements.in -o requirements.lock
# The sample code needs none.
"""

COMMANDS: Mapping[AdapterKind, tuple[str, ...]] = {
    AdapterKind.COMMAND: ("node", "adapter.mjs"),
    AdapterKind.HTTP: ("python3", "server.py", "{port}"),
    AdapterKind.DAEMON: ("python3", "server.py", "{port}"),
    AdapterKind.MCP: ("python3", "server.py"),
}

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
"""The tool of the sample MCP server for each call."""

DESCRIBE = """
# What readers see. Nothing here changes the digest: fill it in, or correct it, at any time.
# [product]
# name = "My Memory"
# package = "my-memory"
# version = "1.0"
# licence = "MIT"
#
# [configuration]
# model = "no LLM"
# embedder = "no embedder"
# mode = "verbatim"
"""
"""The tables that describe product and configuration, to be filled in."""

REPLACE = {
    AdapterKind.PYTHON: "`adapter.py`: the class `Memory`",
    AdapterKind.COMMAND: "`adapter.mjs`: the calls at its end",
    AdapterKind.HTTP: "`memory.py`: the class `Memory`; `server.py` speaks memeval's HTTP contract",
    AdapterKind.DAEMON: "`memory.py`: the class `Memory`; `server.py` speaks as the jeffs-brain daemons do",
    AdapterKind.MCP: "`memory.py`: the class `Memory`; `server.py` is the server with its tools",
}


@dataclass(frozen=True)
class ScaffoldAnswers:
    name: str
    kind: AdapterKind = AdapterKind.PYTHON
    licence: str = "Apache-2.0"
    """SPDX expression of its licence."""
    summary: str = ""
    """Description in one sentence."""
    author: str = ""
    models: tuple[str, ...] = ()


def slug_of(name: str) -> str:
    """Return the slug of a name, without accents. Raises ``BadInput`` if the name has no letter or digit."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    slug = matrix.slug_of("".join(each for each in letters if not unicodedata.combining(each)))
    slug = slug[:SLUG_LENGTH].strip("-")
    if not slug:
        raise BadInput(f"'{name}' has no letter or digit for a folder name.", remedy="Choose another name.")
    return slug


def scaffold(answers: ScaffoldAnswers, submissions: Path, templates: Path, shown: Path | None = None) -> Path:
    """Create a submission that passes the check, and return its folder.

    ``shown``: the parent folder as its README names it; ``None`` for ``submissions``. Raises ``BadInput`` if the folder
    exists, or an answer is invalid. In both cases nothing is written.
    """
    slug = slug_of(answers.name)
    folder = submissions / slug
    if folder.exists() or folder.is_symlink():
        raise BadInput("already exists.", where=folder, remedy="Choose another name.")
    with writable(folder, "Name another folder with --to."):
        submissions.mkdir(parents=True, exist_ok=True)
        # Written to a temporary folder and renamed, so that no half-written submission appears.
        with tempfile.TemporaryDirectory(prefix=".new-", dir=submissions) as temporary:
            draft = Path(temporary) / slug
            draft.mkdir()
            folders = [templates / answers.kind]
            if answers.kind in (AdapterKind.HTTP, AdapterKind.DAEMON, AdapterKind.MCP):
                folders.append(templates / "shared")
            for path in (path for each in folders for path in each.iterdir() if path.is_file()):
                shutil.copyfile(path, draft / path.name)
            (draft / MANIFEST).write_text(manifest_text(answers, slug), "utf-8")
            (draft / README).write_text(_readme(answers, (shown or submissions) / slug), "utf-8")
            if answers.kind is not AdapterKind.COMMAND:
                (draft / "requirements.lock").write_text(LOCK, "utf-8")
            _, faults = examined_folder(draft)
            if faults:
                raise BadInput(faults[0].problem, remedy=faults[0].remedy)
            draft.rename(folder)
    return folder


def manifest_text(answers: ScaffoldAnswers, slug: str) -> str:
    """Return a ``submission.toml``, without the fields that have no answer."""
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
    return "\n".join(lines) + "\n" + (TOOLS if answers.kind is AdapterKind.MCP else "") + DESCRIBE


def _readme(answers: ScaffoldAnswers, folder: Path) -> str:
    head = f"# {answers.name}\n\n" + (f"{answers.summary}\n\n" if answers.summary else "")
    return (
        f"{head}"
        f"Sample code to replace with yours: {REPLACE[answers.kind]}.\n\n"
        "Describe here how it handles event time, both speakers and background indexing, and what it cannot do.\n"
        "State any conflict of interest with a system on the board.\n\n"
        f"```\nmemeval submit check {folder}\nmemeval run {folder} --benchmark beliefs@2\n```\n"
    )
