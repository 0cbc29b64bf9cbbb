"""SSH keys and signers files for tests, made by the real ``ssh-keygen``."""

import shutil
import subprocess
from pathlib import Path

import pytest

needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="no ssh-keygen here: install the package 'openssh-client'"
)


def make_key(folder: Path, name: str) -> Path:
    """Make an SSH key without a passphrase, and return the file of its private half."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
    subprocess.run(command, check=True, timeout=60)
    return folder / name


def signer(name: str, key: Path, options: str = "") -> str:
    """Return the line of a signers file for a key."""
    return f"{name} {options} {key.with_suffix('.pub').read_text('utf-8').strip()}\n".replace("  ", " ")
