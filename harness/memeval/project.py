"""The addresses of memeval, from ``project.toml``, and the commands that install it."""

from dataclasses import dataclass
from functools import cache
from importlib import resources

from memeval.toml import parse_toml


@dataclass(frozen=True)
class Project:
    """The addresses of memeval."""

    repository: str = ""
    """Address for ``git clone``; empty if absent."""
    package: str = ""
    """Name for ``pipx install``; empty if absent."""

    def install_steps(self) -> str:
        """Return the installation steps as Markdown, without commands that need an unknown address."""
        commands = [
            ("make demo", "sets up .venv and builds a first board: one to three minutes"),
            (". .venv/bin/activate", "puts memeval on your PATH: make demo installs it as .venv/bin/memeval"),
            ("memeval doctor", "shows what works on this machine"),
        ]
        where = "In your clone of the repository (needs Python 3.11 or newer and `make`):"
        if self.repository:
            where = "Needs Python 3.11 or newer, `git` and `make`:"
            commands.insert(0, (f"git clone {self.repository} memeval && cd memeval", "the code and the stored runs"))
        width = max(len(command) for command, _ in commands)
        lines = "\n".join(f"$ {command:{width}}   # {what}" for command, what in commands)
        packaged = f"\n\nWithout a clone: `pipx install {self.package}`." if self.package else ""
        return f"{where}\n\n```console\n{lines}\n```{packaged}"


@cache
def project() -> Project:
    content = resources.files("memeval").joinpath("project.toml").read_bytes()
    return Project(**parse_toml(content, "project.toml").data)
