"""Tells a command or a webhook about a regression. A failure is one warning, and never changes the exit code."""

import hashlib
import hmac
import ipaddress
import json
import os
import shlex
import subprocess
import time
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from memeval.records.errors import BadInput

SECRET = "MEMEVAL_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
"""The environment variable with the secret that signs webhook requests."""

TRIES = 4
"""Requests to a webhook at most."""

FIRST_WAIT = 0.5
"""Seconds before the second request; doubled before each further one."""

REQUEST_SECONDS = 10.0
COMMAND_SECONDS = 60.0

OFF = "none"
"""The value of ``--on-regression`` that switches the setting off."""


class NotTold(Exception):
    """A hook failed; the text is a sentence without secrets."""


Hook = Callable[[bytes], None]
"""Receives a result as JSON. Raises ``NotTold`` if it fails."""


def _call_webhook(url: str, body: bytes) -> None:
    """Send a result as a signed POST request.

    Tries again after a failed connection, a status 429, and a status from 500. Raises ``NotTold`` if there is no
    secret, or no request succeeded.
    """
    secret = os.environ.get(SECRET, "")
    if not secret:
        raise NotTold(f"the webhook was not called, because {SECRET} is not set.")
    for number in range(TRIES):
        if number:
            time.sleep(FIRST_WAIT * 2 ** (number - 1))
        try:
            _send(url, body, secret)
            return
        except HTTPError as error:
            problem = f"status {error.code}"
            error.close()
            if error.code != 429 and error.code < 500:
                break
        except (OSError, URLError, HTTPException, ValueError) as error:
            problem = type(getattr(error, "reason", error)).__name__
    parts = urlsplit(url)  # its path can be a secret
    raise NotTold(f"the webhook at {parts.scheme}://{parts.hostname} failed ({problem}).")


def _send(url: str, body: bytes, secret: str) -> None:
    stamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "memeval",
        "X-Memeval-Timestamp": stamp,
        "X-Memeval-Signature": f"sha256={signature_of(secret, stamp, body)}",
    }
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - the scheme is checked
    with _opener(url).open(request, timeout=REQUEST_SECONDS) as reply:
        reply.read(1)


def _run_command(words: Sequence[str], body: bytes) -> None:
    """Run a program, never a shell, with a result on standard input.

    Raises ``NotTold`` if it cannot be started, takes too long, or fails.
    """
    try:
        # Its output goes to standard error: standard output can be JSON.
        done = subprocess.run(words, input=body, stdout=2, timeout=COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotTold(f"the command {words[0]!r} took longer than {COMMAND_SECONDS:g} s.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NotTold(f"the command {words[0]!r} cannot be started ({reason}).") from None
    if done.returncode:
        raise NotTold(f"the command {words[0]!r} failed with exit code {done.returncode}.")


def hook_of(value: str | Sequence[str] | None, where: str) -> Hook | None:
    """Return the hook of a setting or an option.

    ``value``: a URL; a command as a list, or as text with quotes as in a shell, or as a list in JSON; ``none`` or
    ``None`` for no hook. Raises ``BadInput`` if the URL is neither HTTPS nor on this machine, or the command is empty.
    """
    if value is None or value == OFF:
        return None
    if isinstance(value, str) and "://" in value:
        if not _is_allowed(value):
            raise BadInput("the webhook needs an HTTPS address.", where=where, remedy="Write https://HOST/PATH.")
        return partial(_call_webhook, value)
    try:
        words = _words(value) if isinstance(value, str) else list(value)
    except ValueError:
        words = []
    if not words or not words[0] or not all(isinstance(word, str) for word in words):
        raise BadInput(
            "the command is empty, or a quote is open.",
            where=where,
            remedy="Write a program and its arguments: 'python3 hook.py', or '[\"python3\", \"hook.py\"]'.",
        )
    return partial(_run_command, words)


def _words(text: str) -> list[str]:
    """Return the words of a command, written as for a shell or as a list in JSON or TOML."""
    if not text.lstrip().startswith("["):
        return shlex.split(text)
    words: list[str] = json.loads(text)
    return words


def signature_of(secret: str, timestamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 of ``timestamp``, a dot and the body, as hexadecimal digits."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _is_allowed(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    if not url.isprintable() or " " in url or not host or parts.username or parts.password:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as a failure: the signed body goes to the configured address only."""

    def redirect_request(self, *_arguments: object) -> None:
        return None


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return an opener without redirects; without a proxy for addresses on this machine."""
    local = _is_loopback(urlsplit(url).hostname or "")
    return urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({} if local else None))
