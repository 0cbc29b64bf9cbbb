"""The content security policy of a page: the site's own scripts, the theme's inline ones by hash, no others."""

from __future__ import annotations

import base64
import hashlib
import re

_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_DATA_TYPE = re.compile(r"""\btype\s*=\s*["']?application/(?:ld\+)?json""", re.IGNORECASE)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)


def script_hashes(html: str) -> list[str]:
    """Return the policy's source expressions for the inline scripts of a page, without data blocks."""
    found = []
    for attributes, body in _SCRIPT.findall(html):
        if re.search(r"\bsrc\s*=", attributes) or _DATA_TYPE.search(attributes):
            continue
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        found.append(f"'sha256-{digest}'")
    return sorted(set(found))


def policy(html: str) -> str:
    """Return the policy that allows what a page needs and nothing else."""
    scripts = " ".join(["'self'", *script_hashes(html)])
    return (
        f"default-src 'self'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'"
    )


def with_policy(html: str) -> str:
    """Return a page with its policy as the first thing in its head.

    Raises:
        ValueError: the page has no head.
    """
    head = _HEAD.search(html)
    if head is None:
        raise ValueError("the page has no head, so it cannot contain a policy.")
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy(html)}">'
    return html[: head.end()] + tag + html[head.end() :]
