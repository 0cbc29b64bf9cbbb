"""SSH signatures of ledger lines and releases, made and checked by OpenSSH's ``ssh-keygen``.

Keys come from an ``allowed_signers`` file of the checkout that verifies: a checked file never vouches for its own key.
Formats: ``man ssh-keygen``, section ALLOWED SIGNERS, and OpenSSH's PROTOCOL.sshsig.
"""

import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

from memeval.records.base import canonical_json
from memeval.records.errors import BadInput

LEDGER_NAMESPACE = "memeval-ledger"

RELEASE_NAMESPACE = "memeval-release"

SECONDS = 60

_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"

_UNUSED = (
    "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgAkGUcZLJy7Tb7Ix2k97eIxzdo1ZNakZI+eDAaiIfOQUAAAAObWVtZXZhbC1sZWRnZX"
    "IAAAAAAAAABnNoYTUxMgAAAFMAAAALc3NoLWVkMjU1MTkAAABAQ70Xw+fO1FGWAp8KdpTtIfmmpSKVQgq+/UzsLf0rIqdyRV/51Ur8LZpzOGjO"
    "vgTeYrMBecbhMFubSdV1TXsvBA=="
)
"""A signature by a discarded key: while ``ssh-keygen`` looks for that key, it reads every line of a signers file."""

_COMPLAINT = re.compile(r":(\d+): (.+)$")


class SignatureState(StrEnum):
    GOOD = "good"
    NOT_SIGNED = "not signed"
    UNKNOWN_KEY = "signed by an unknown key"
    """The signature is valid, but the signers file does not list its key for this purpose."""
    EXPIRED = "key expired"
    """The signature is valid, but the signers file does not allow its key at the time of the entry."""
    BAD = "bad signature"
    NOT_CHECKED = "signature not checked"


@dataclass(frozen=True)
class SignatureResult:
    state: SignatureState
    detail: str | None = None

    def __str__(self) -> str:
        if self.state is SignatureState.GOOD:
            return f"signed by {self.detail}"
        return f"{self.state} ({self.detail})" if self.detail else str(self.state)


NOT_SIGNED = SignatureResult(SignatureState.NOT_SIGNED)


def signed_bytes(data: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature covers: the canonical JSON of all fields but ``signature``."""
    return canonical_json({name: value for name, value in data.items() if name != "signature"}).encode()


def sign(data: bytes, key: Path, namespace: str) -> str:
    if not key.is_file():
        raise BadInput("there is no signing key here.", where=key, remedy="Name the file of an SSH key: --sign-with.")
    try:
        done = _ssh_keygen("sign", "-f", str(key.absolute()), "-n", namespace, data=data, environment=os.environ)
    except _NoTool as error:
        raise BadInput(f"cannot sign: {error}.", remedy="Install OpenSSH's client, or do not ask to sign.") from None
    text = done.stdout.decode(errors="replace").strip()
    if done.returncode or not text.startswith(_BEGIN) or not text.endswith(_END):
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = lines[-1][:200] if lines else "ssh-keygen says nothing"
        remedy = "Name another key, or load it: ssh-add KEYFILE."
        raise BadInput(f"the key cannot sign ({said}).", where=key, remedy=remedy)
    return "".join(text.removeprefix(_BEGIN).removesuffix(_END).split())


@dataclass(frozen=True)
class Signers:
    path: Path

    def has_keys(self) -> bool:
        """Return whether the file lists a key.

        Raises BadInput: the file cannot be read, or one of its lines is not valid.
        """
        return any(line != "#" for line in self._lines())

    def check(self, data: bytes, signature: str | None, namespace: str, at: str) -> SignatureResult:
        """Check a signature of some bytes.

        ``signature``: its base64 text; ``None`` if absent. ``at``: the time of signing, ISO 8601, at which the key must
        have been valid. Raises ``BadInput`` if the signers file cannot be read, or one of its lines is not valid.
        """
        if signature is None:
            return NOT_SIGNED
        try:
            moment = datetime.fromisoformat(at).astimezone(UTC).strftime("%Y%m%d%H%M%S")
        except ValueError:
            return SignatureResult(SignatureState.BAD, f"{at!r} is not a time")
        try:
            with self._files(signature) as (signers, file):
                if _ssh_keygen("check-novalidate", "-n", namespace, "-s", file, data=data).returncode:
                    return SignatureResult(SignatureState.BAD)
                time = f"-Overify-time={moment}"
                found = _ssh_keygen("find-principals", time, "-f", signers, "-s", file)
                if found.returncode:
                    dated = re.search(r"key has expired|key is not yet valid", found.stderr.decode(errors="replace"))
                    return SignatureResult(SignatureState.EXPIRED if dated else SignatureState.UNKNOWN_KEY)
                for name in found.stdout.decode(errors="replace").splitlines():
                    options = ("-f", signers, "-I", name, "-n", namespace, "-s", file)
                    if _ssh_keygen("verify", time, *options, data=data).returncode == 0:
                        return SignatureResult(SignatureState.GOOD, name)
                return SignatureResult(SignatureState.UNKNOWN_KEY, "its key is listed for another purpose")
        except _NoTool as error:
            return SignatureResult(SignatureState.NOT_CHECKED, str(error))

    def refuse_syntax_errors(self) -> None:
        """Check every line of the file. Raises BadInput: the file cannot be read, or one of its lines is not valid."""
        try:
            with self._files(_UNUSED) as (signers, file):
                said = _ssh_keygen("find-principals", "-f", signers, "-s", file).stderr.decode(errors="replace")
        except _NoTool:
            return
        for line in said.splitlines():
            if (found := _COMPLAINT.search(line)) is not None:
                raise BadInput(
                    f"syntax error ({found[2]}).",
                    where=f"{self.path}:{found[1]}",
                    remedy="Write a line as: NAME [OPTIONS] KEYTYPE KEY.",
                )

    def _lines(self) -> list[str]:
        """Return the lines; an empty line, which ``ssh-keygen`` may refuse, becomes a comment."""
        try:
            text = self.path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise BadInput(
                f"the signers file cannot be read ({said}).", where=self.path, remedy="Name another with --signers."
            ) from None
        return ["#" if not line.strip() or line.lstrip().startswith("#") else line for line in text.splitlines()]

    @contextmanager
    def _files(self, signature: str) -> Iterator[tuple[str, str]]:
        with tempfile.TemporaryDirectory(prefix="memeval-signature-") as folder:
            signers, file = Path(folder) / "allowed_signers", Path(folder) / "signature"
            signers.write_text("\n".join(self._lines()) + "\n", encoding="utf-8")
            file.write_text(f"{_BEGIN}\n{textwrap.fill(signature, 70)}\n{_END}\n", encoding="utf-8")
            yield str(signers), str(file)


def signers_of(path: Path | None) -> Signers:
    """Return the signers in a file; ``None`` for memeval's own file, which is part of its code."""
    return Signers(Path(str(resources.files("memeval").joinpath("allowed_signers"))) if path is None else path)


class _NoTool(Exception):
    """``ssh-keygen`` cannot be run; the text says why."""


def _ssh_keygen(
    action: str, *options: str, data: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run ``ssh-keygen -Y``. Times are UTC, whatever the machine's time zone.

    Raises _NoTool: it is not installed, or does not end in time.
    """
    if (tool := shutil.which("ssh-keygen")) is None:
        raise _NoTool("ssh-keygen is not installed")
    base = {"PATH": os.defpath} if environment is None else dict(environment)
    try:
        return subprocess.run(
            [tool, "-Y", action, *options],
            input=data,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=base | {"TZ": "UTC0", "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise _NoTool(f"ssh-keygen did not finish in {SECONDS} s") from None
    except OSError as error:
        raise _NoTool(f"ssh-keygen cannot be started: {error.strerror}") from None
