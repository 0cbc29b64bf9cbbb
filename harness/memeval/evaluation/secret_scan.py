"""Looking for keys in the files of a submission, before they are published for good."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from memeval.execution.secrets import redact
from memeval.records.submitting import Problem
from memeval.systems.folder import LOCKS

PLUGINS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector"),
    *("DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector"),
    *("JwtTokenDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector"),
    *("PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector"),
    *("TelegramBotTokenDetector", "TwilioKeyDetector"),
)
"""Detectors of keys that have a shape. Those that go by a variable's name or by randomness find digests, too."""

ENTROPY = {"name": "Base64HighEntropyString", "limit": 4.7}
"""Keys without a shape: long random texts in quotes. Hexadecimal digits, as digests are written, stay below this."""

LINE_LENGTH = 20_000
"""Characters of a line at most: some detectors take hours over a line of a million."""

REMEDY = "Take it out, and have it revoked: what was pushed once is known. Keys go by [[hosts]] or declared_models."


def secrets_in(files: Mapping[str, Path]) -> Iterator[Problem]:
    """Yield what looks like a secret, by file and line; the secret itself is not repeated.

    Args:
        files: the files of a submission, by their path inside it. Lock files are full of digests, so that only keys of
            a known shape are looked for in them.
    """
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import transient_settings

    logging.getLogger("detect_secrets").setLevel(logging.CRITICAL)
    settings = {
        "plugins_used": [*({"name": name} for name in PLUGINS), ENTROPY],
        "filters_used": [
            {"path": "detect_secrets.filters.heuristic.is_sequential_string"},
            {"path": "detect_secrets.filters.heuristic.is_templated_secret"},
        ],
    }
    for inside, path in files.items():
        if long := _long_line(path):
            sentence = f"has more than {LINE_LENGTH:,} characters, and is not looked through for secrets."
            yield Problem(where=f"{path}:{long}", sentence=sentence, remedy="Break the line.")
            continue
        found: dict[int, str] = dict(_shapes(path))
        if inside not in LOCKS:
            with transient_settings(settings):
                for secret in scan_file(str(path)):
                    found.setdefault(secret.line_number, secret.type)
        for line in sorted(found):
            yield Problem(where=f"{path}:{line}", sentence=f"looks like a secret ({found[line]}).", remedy=REMEDY)


def _long_line(path: Path) -> int | None:
    """Return the number of the first line of a text that is too long; detectors leave alone what is no text."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    return next((number for number, line in enumerate(lines, 1) if len(line) > LINE_LENGTH), None)


def _shapes(path: Path) -> Iterator[tuple[int, str]]:
    """Yield lines that hold a key of a known shape, or the value of one of this machine's secret variables."""
    text = path.read_text("utf-8", errors="replace")
    if redact(text) == text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if redact(line) != line:
            yield number, "Key or password"
