"""Creates a board in an empty folder: settings, workflows and a first submission that works."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError

from memeval.archive.rows import indented
from memeval.evaluation.run.provenance import DISTRIBUTION, memeval_version
from memeval.evaluation.submit.scaffold import ScaffoldAnswers, scaffold, slug_of
from memeval.project import project
from memeval.records.base import misfit
from memeval.records.errors import BadInput
from memeval.records.settings import BoardSettings
from memeval.settings import REMEDIES, SETTINGS
from memeval.site.model.files import assets_root
from memeval.site.pages.harness_wheel import FOLDER, wheel, wheel_name
from memeval.storage import readable

FIRST = ScaffoldAnswers(name="First memory", summary="Sample system: finds turns that share words with the question.")

SCHEMA = "memeval.schema.json"

FILES: Mapping[str, str] = {
    SETTINGS: "memeval.toml",
    "README.md": "README.md",
    "requirements.txt": "requirements.txt",
    ".gitignore": "gitignore",
    ".gitattributes": "gitattributes",
    ".github/CODEOWNERS": "CODEOWNERS",
    ".github/dependabot.yml": "dependabot.yml",
    ".github/workflows/submission.yml": "workflows/submission.yml",
    ".github/workflows/evaluate.yml": "workflows/evaluate.yml",
    ".github/workflows/publish.yml": "workflows/publish.yml",
}
"""The template of each file, in ``templates/board``."""


@dataclass(frozen=True)
class NewBoard:
    title: str
    repository: str | None = None
    """Web address of its repository; ``None`` if absent yet."""
    contact: str | None = None
    """E-mail or web address for messages; ``None`` if absent yet."""

    def __post_init__(self) -> None:
        for name in ("title", "repository", "contact"):
            try:
                BoardSettings.model_validate({name: getattr(self, name)})
            except ValidationError as error:
                raise BadInput(misfit(BoardSettings, error), where=f"--{name}", remedy=REMEDIES[name]) from None


def create_board(folder: Path, board: NewBoard, schema: Mapping[str, object]) -> None:
    """Create a board. If it fails, the folder stays as it was.

    ``folder``: a new folder, or one that is empty or contains only ``.git``. Raises ``BadInput`` if the folder contains
    something else, or cannot be written.
    """
    _refuse(folder)
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written to a temporary folder and moved, so that no half-written board appears.
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
            draft = Path(temporary) / "board"
            _write(draft, board, schema)
            for path in sorted(draft.iterdir()):
                path.rename(folder / path.name)
    except OSError as error:
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        why = error.strerror or error
        raise BadInput(f"cannot be written ({why}).", where=folder, remedy="Choose another folder.") from None


def first_slug() -> str:
    return slug_of(FIRST.name)


def _refuse(folder: Path) -> None:
    with readable(folder, "Choose another folder."):
        if folder.exists() and not folder.is_dir():
            raise BadInput("this is a file.", where=folder, remedy="Choose a folder.")
        if folder.exists() and any(path.name != ".git" for path in folder.iterdir()):
            raise BadInput("the folder is not empty.", where=folder, remedy="Choose an empty or new folder.")


def _write(draft: Path, board: NewBoard, schema: Mapping[str, object]) -> None:
    templates = assets_root() / "templates"
    environment = _environment(templates / "board")
    values = {
        "title": board.title,
        "repository": board.repository,
        "contact": board.contact,
        "package": project().package,
        "distribution": DISTRIBUTION,
        "version": memeval_version(),
        "folder": None if (carried := wheel_name()) is None else FOLDER.rstrip("/"),
        "first": first_slug(),
    }
    for name, template in FILES.items():
        path = draft / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(template).render(values), encoding="utf-8")
    (draft / SCHEMA).write_bytes(indented(schema))
    if carried is not None:
        (draft / FOLDER).mkdir()
        (draft / FOLDER / carried).write_bytes(wheel())
    (draft / "results").mkdir()
    (draft / "results" / ".gitkeep").touch()
    scaffold(FIRST, draft / "submissions", templates / "submission", shown=Path("submissions"))


def _environment(folder: Path) -> Environment:
    """Return an environment whose marks do not occur in workflows, which use ``{{ }}`` themselves."""
    made = Environment(  # noqa: S701 - no HTML; each file has a filter of its own
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"toml": partial(json.dumps, ensure_ascii=False), "markdown": _markdown}
    return made


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()#+!|~&-])", r"\\\1", text)
