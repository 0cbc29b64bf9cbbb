"""A home of its own for each test: none depends on what the user or another test has there, or leaves anything behind.

What takes long to make is shared, and kept for the next session. The environments of systems and what package managers
downloaded stay in the user's cache; ``MEMEVAL_TEST_CACHE`` names another folder with environments. Generated benchmarks
and drawn charts are in ``build/cache/tests``. All of it is found by a digest of what it was made from.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
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
    """Give this process a new home folder, which is deleted at its end, and return it.

    Fixtures that several tests share have it; each test has another one, see :func:`new_home`.
    """
    user = Path(os.environ.setdefault(USER, str(Path.home())))
    theirs = Path(os.environ.get("XDG_CACHE_HOME") or user / ".cache")
    if "MEMEVAL_TEST_CACHE" not in os.environ:
        os.environ["MEMEVAL_TEST_CACHE"] = os.environ.pop("MEMEVAL_CACHE", str(theirs / "memeval"))
    for variable, inside in TOOLS.items():
        if variable not in os.environ and (user / inside).exists():
            os.environ[variable] = str(user / inside)
    home = _make_home()
    os.environ |= _variables(home)
    return home


@contextmanager
def new_home() -> Iterator[Path]:
    """Have an empty home folder for a while.

    One that is left as it was is there for the next test: to make and delete folders took a tenth of many tests' time.
    """
    home = _LEFT_EMPTY.pop() if _LEFT_EMPTY else _make_home()
    variables, empty = _variables(home), _content(home)
    before = {name: os.environ[name] for name in variables}
    os.environ |= variables
    yield home
    os.environ |= before
    if _content(home) == empty:
        _LEFT_EMPTY.append(home)
    else:
        shutil.rmtree(home, ignore_errors=True)


_LEFT_EMPTY: list[Path] = []


def _make_home() -> Path:
    """Make a home, deleted at the end of this process, in whose cache for memeval is what takes long to make."""
    home = Path(tempfile.mkdtemp(prefix="memeval-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for inside in FOLDERS.values():
        (home / inside).mkdir(parents=True)
    (home / ".cache" / "memeval").mkdir()
    for name, folder in _kept().items():
        (home / ".cache" / "memeval" / name).symlink_to(folder)
    return home


def _variables(home: Path) -> dict[str, str]:
    return {"HOME": str(home), **{variable: str(home / inside) for variable, inside in FOLDERS.items()}}


def _content(home: Path) -> dict[Path, int]:
    """Return the files and folders of a home, with their kind and permissions."""
    return {path: path.lstat().st_mode for path in (home, *home.rglob("*"))}


@cache
def _kept() -> dict[str, Path]:
    """Return what is shared, by its name in the cache folder."""
    drawn = f"vl-convert-{version('vl-convert-python')}"
    kept = CHECKOUT / "build" / "cache" / "tests"
    built = Path(os.environ["MEMEVAL_TEST_CACHE"]) / "environments"
    folders = {
        "environments": built if built.is_dir() else kept / "environments",
        "benchmarks": kept / "benchmarks",
        drawn: kept / drawn,
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return folders
