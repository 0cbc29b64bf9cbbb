"""The content security policy of a page: the site's own scripts, named inline ones by their hashes, no others."""

from __future__ import annotations

import base64
import hashlib


def script_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*scripts: str) -> str:
    allowed = " ".join(["'self'", *map(script_hash, scripts)])
    return (
        f"default-src 'self'; script-src {allowed}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'"
    )
