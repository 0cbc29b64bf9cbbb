"""A package of this repository, installed for one process without building it."""

import os
import tomllib
from pathlib import Path


def with_package(folder: Path, metadata: Path) -> dict[str, str]:
    """Return an environment in which a package is installed."""
    about = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    info = metadata / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = about["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items()) for group, each in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(metadata)])}
