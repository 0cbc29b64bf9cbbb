"""What installers say becomes a sentence."""

import json
from pathlib import Path

import pytest

from memeval.systems.environments.install import npm_refusal, python_refusal
from memeval.systems.environments.tools import Installer, ToolFailed
from tests.systems.environments.locks import IS_NUMBER, PACKAGE_LOCK

HERE = Path("requirements.lock")

# What the tools said: uv 0.13.9 and pip 23.2.1, recorded with such locks on a machine with and without a network.
SAID = [
    (
        "error: Failed to download `iniconfig==2.0.0`\n  cause: Hash mismatch for `iniconfig==2.0.0`\n\n Expected: …",
        "the file of 'iniconfig==2.0.0' does not match its digest in the lock",
    ),
    (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated …\n"
        "    iniconfig==2.0.0 from https://x.invalid/iniconfig-2.0.0-py3-none-any.whl (from -r mism.lock (line 1)):",
        "the file of 'iniconfig==2.0.0' does not match its digest in the lock",
    ),
    (
        "  cause: Because six-nothere was not found in the package registry and you require six-nothere==2.0.0, we can",
        "there is no 'six-nothere' in the package index",
    ),
    (
        "  cause: Because there is no version of iniconfig==99.0.0 and you require iniconfig==99.0.0, we can conclude",
        "there is no 'iniconfig==99.0.0' in the package index",
    ),
    ("ERROR: No matching distribution found for iniconfig==99.0.0", "there is no wheel of 'iniconfig==99.0.0'"),
    (
        "  cause: Because docopt==0.6.2 has no usable wheels and you require docopt==0.6.2, we can conclude that your",
        "'docopt==0.6.2' has no wheel for this Python and platform. memeval builds none",
    ),
    (
        "  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.99 and keepsake==2.2 depends "
        "on Python>=3.99, we can conclude",
        "'keepsake==2.2' needs another version of Python (Python>=3.99)",
    ),
    (
        "  cause: Because the current Python version (3.11.7) does not satisfy\n"
        "         Python>=3.99 and keepsake==2.2\n         depends on Python>=3.99, we can conclude",
        "'keepsake==2.2' needs another version of Python (Python>=3.99)",
    ),
    (
        "error: Hash-checking is required, but no trusted hash was provided for: `markupsafe`",
        "the lock does not pin the dependency 'markupsafe'",
    ),
    (
        "ERROR: In --require-hashes mode, all requirements must have their versions pinned with ==. These do not:\n"
        "    MarkupSafe>=2.0 from https://x.invalid/markupsafe-3.0.4.whl (from jinja2==3.1.6->-r dep.lock (line 1))",
        "the lock does not pin the dependency 'MarkupSafe'",
    ),
    (
        "error: Request failed after 3 retries in 9.7s\n  cause: Failed to fetch: https://x.invalid/simple/iniconfig/\n"
        "  cause: dns error",
        "the package index cannot be reached, so 'iniconfig==2.0.0' cannot be installed",
    ),
    (
        "WARNING: Retrying … Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')\n"
        "ERROR: Could not find a version that satisfies the requirement iniconfig==2.0.0 (from versions: none)\n"
        "ERROR: No matching distribution found for iniconfig==2.0.0",
        "the package index cannot be reached, so 'iniconfig==2.0.0' cannot be installed",
    ),
    (
        "ERROR: Cannot install iniconfig==2.0.0 and iniconfig==2.0.1 because these package versions have conflicting",
        "iniconfig==2.0.0 and iniconfig==2.0.1 are not compatible",
    ),
    (
        "  cause: Because you require iniconfig==2.0.0 and iniconfig==2.0.1, we can conclude that your",
        "iniconfig==2.0.0 and iniconfig==2.0.1 are not compatible",
    ),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
    ("noise\nerror: something new\x1b[31m\n", "uv 0.1 failed at 'iniconfig==2.0.0': error: something new\\x1b[31m"),
    ("", "uv 0.1 failed at 'iniconfig==2.0.0': it printed no reason"),
]


@pytest.mark.parametrize(("said", "sentence"), SAID)
def test_what_an_installer_says_becomes_a_sentence_with_a_remedy(said: str, sentence: str) -> None:
    refused = python_refusal(ToolFailed(said), Installer("uv", "0.1", ()), "iniconfig==2.0.0", lambda _name: HERE)
    assert str(refused).startswith(f"requirements.lock: {sentence}")
    assert refused.remedy


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            f"npm error code EINTEGRITY\nnpm error {IS_NUMBER} … wanted {IS_NUMBER} but got sha512-x",
            "of 'is-number' does",
        ),
        ("npm error code ETARGET\nnpm error notarget No matching version found for is-odd@3.9.9.\n", "'is-odd@3.9.9'"),
        ("npm error code E404\nnpm error 404  'no@3.0.1' is not in this registry.", "there is no 'no@3.0.1'"),
        ("npm error code EUSAGE\nnpm error `npm ci` can only install …", "does not match package.json"),
        ("npm error code EAI_AGAIN\n", "cannot be reached"),
        ("npm error code ENOSPC\n", "the disk is full"),
        ("npm error code EODD\nnpm error something new", "npm 1 failed: npm error something new"),
    ],
)
def test_what_npm_says_becomes_a_sentence_with_a_remedy(said: str, sentence: str) -> None:
    refused = npm_refusal(
        ToolFailed(said), Installer("npm", "1", ()), Path("package-lock.json"), json.loads(PACKAGE_LOCK)
    )
    assert sentence in str(refused)
    assert refused.remedy
