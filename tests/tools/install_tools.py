"""Finds or installs the programs that tests drive: Chromium, and bubblewrap for the sandbox.

`make test` runs it first. What cannot be had is named in a sentence and the exit code stays 0: the tests that need it
then skip with the reason.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = Path(sys.prefix) / "browsers"
"""Where Playwright's own download goes: inside the environment, so that nothing is left in the home folder."""


def find_chromium() -> Path | None:
    """Path of a Chromium that Playwright can launch, or ``None``."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return Path(found)
    downloads = [*BROWSERS.glob("chromium-*/chrome-linux*/chrome"), *BROWSERS.glob("chromium-*/*/*/Contents/MacOS/*")]
    return max(downloads, default=None)


def find_bubblewrap() -> Path | None:
    """Path of bubblewrap's ``bwrap``, or ``None``."""
    found = shutil.which("bwrap")
    return Path(found) if found else None


def main() -> int:
    """Install what is missing, as far as this machine allows it."""
    missing = [
        package for package, find in (("chromium", find_chromium), ("bubblewrap", find_bubblewrap)) if find() is None
    ]
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        print(f"Installing {' and '.join(missing)}", flush=True)
        _apt_install(missing)
    if find_chromium() is None:
        _playwright_install()
    if find_chromium() is None:
        print("memeval: no Chromium here and none could be installed; browser tests will be skipped.")
    if find_bubblewrap() is None:
        print("memeval: no bubblewrap here; tests of the sandbox will be skipped. Install the package 'bubblewrap'.")
    return 0


def _apt_install(packages: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run(["apt-get", "update", "-qq"], environment)
    _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], environment)


def _playwright_install() -> None:
    environment = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(BROWSERS)}
    _run([sys.executable, "-m", "playwright", "install", "chromium"], environment)


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
    sys.exit(main())
