"""Scans the files of a submission for secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from memeval.execution.secrets import redact
from memeval.records.conformance import Problem
from memeval.systems.folder import LOCKS

PLUGINS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector"),
    *("DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector"),
    *("JwtTokenDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector"),
    *("PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector"),
    *("TelegramBotTokenDetector", "TwilioKeyDetector"),
)
"""Detectors of keys with a known form. Detectors by variable name or randomness would also find digests."""

ENTROPY = {"name": "Base64HighEntropyString", "limit": 4.7}
"""Detector of keys without a known form: long random texts in quotes. Hexadecimal digests stay below the limit."""

LINE_LENGTH = 20_000
"""Maximum characters of a line: some detectors need hours for a line of a million."""

REMEDY = "Remove it, and revoke it if it was pushed. Use [[hosts]] or declared_models for keys."


def secrets_in(files: Mapping[str, Path]) -> Iterator[Problem]:
    """Yield possible secrets by file and line, without the secret itself.

    Args:
        files: the files of a submission by relative path. Lock files contain digests, so they are only scanned for keys
            with a known form.
    """
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import transient_settings

    logging.getLogger("detect_secrets").setLevel(logging.CRITICAL)
    settings = {
        "plugins_used": [*({"name": plugin} for plugin in PLUGINS), ENTROPY],
        "filters_used": [
            {"path": "detect_secrets.filters.heuristic.is_sequential_string"},
            {"path": "detect_secrets.filters.heuristic.is_templated_secret"},
        ],
    }
    for name, path in files.items():
        if long := _long_line(path):
            sentence = f"has more than {LINE_LENGTH:,} characters, so it cannot be scanned for secrets."
            yield Problem(where=f"{path}:{long}", sentence=sentence, remedy="Break the line.")
            continue
        found: dict[int, str] = dict(_known_forms(path))
        if name not in LOCKS:
            with transient_settings(settings):
                for secret in scan_file(str(path)):
                    found.setdefault(secret.line_number, secret.type)
        for line in sorted(found):
            yield Problem(where=f"{path}:{line}", sentence=f"looks like a secret ({found[line]}).", remedy=REMEDY)


def _long_line(path: Path) -> int | None:
    """Return the number of the first line that is too long; ``None`` for binary files, which detectors skip."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    return next((number for number, line in enumerate(lines, 1) if len(line) > LINE_LENGTH), None)


def _known_forms(path: Path) -> Iterator[tuple[int, str]]:
    """Yield lines with a key of a known form, or with the value of a secret environment variable."""
    text = path.read_text("utf-8", errors="replace")
    if redact(text) == text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if redact(line) != line:
            yield number, "Key or password"
