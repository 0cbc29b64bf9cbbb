"""Writes the ``CITATION.cff`` of memeval from the catalogues: ``python -m tests.tools.citation``."""

import tomllib
from pathlib import Path

from memeval.benchmarks import all_benchmarks
from memeval.project import project
from memeval.site.pages.citing import Citation, citation_file, works_of

ROOT = Path(__file__).parents[2]


def memeval_citation() -> bytes:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return citation_file(
        Citation(
            title="memeval",
            authors=tuple(author["name"] for author in about["authors"]),
            abstract=about["description"],
            kind="software",
            works=works_of(each.info for each in all_benchmarks()),
            version=about["version"],
            licence=about["license"],
            repository=project().repository or None,
        )
    )


if __name__ == "__main__":
    (ROOT / "CITATION.cff").write_bytes(memeval_citation())
