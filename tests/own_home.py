"""A home of their own for the tests of a process: none depends on what the user has there, or leaves anything behind.

What takes long to make is shared, and kept for the next session. The environments of systems and what package managers
downloaded stay in the user's cache; ``MEMEVAL_TEST_CACHE`` names another folder with environments. Generated benchmarks
and drawn charts are in ``build/cache/tests``. All of it is found by a digest of what it was made from.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

USER = "MEMEVAL_TEST_HOME"
"""The variable with the user's home folder, which workers cannot see any more."""

CHECKOUT = Path(__file__).resolve().parents[1]

TOOLS = {
    "PIP_CACHE_DIR": ".cache/pip",
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",
    "UV_CACHE_DIR": ".cache/uv",
    "UV_CONFIG_FILE": ".config/uv/uv.toml",
    "npm_config_cache": ".npm",
    "npm_config_userconfig": ".npmrc",
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
}
"""Caches and settings of package managers and the browser, by variable, in the user's home folder."""

FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


def move_in() -> Path:
    """Give this process a new home folder, which is deleted at its end, and return it."""
    user = Path(os.environ.setdefault(USER, str(Path.home())))
    theirs = Path(os.environ.get("XDG_CACHE_HOME") or user / ".cache")
    if "MEMEVAL_TEST_CACHE" not in os.environ:
        os.environ["MEMEVAL_TEST_CACHE"] = os.environ.pop("MEMEVAL_CACHE", str(theirs / "memeval"))
    for variable, inside in TOOLS.items():
        if variable not in os.environ and (user / inside).exists():
            os.environ[variable] = str(user / inside)
    home = Path(tempfile.mkdtemp(prefix="memeval-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["HOME"] = str(home)
    for variable, inside in FOLDERS.items():
        (home / inside).mkdir(parents=True)
        os.environ[variable] = str(home / inside)
    _share(home / ".cache" / "memeval")
    return home


def _share(cache: Path) -> None:
    """Link what takes long to make into memeval's cache folder."""
    cache.mkdir()
    drawn = f"vl-convert-{version('vl-convert-python')}"
    kept = CHECKOUT / "build" / "cache" / "tests"
    built = Path(os.environ["MEMEVAL_TEST_CACHE"]) / "environments"
    for name, folder in (
        ("environments", built if built.is_dir() else kept / "environments"),
        ("benchmarks", kept / "benchmarks"),
        (drawn, kept / drawn),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(folder)
