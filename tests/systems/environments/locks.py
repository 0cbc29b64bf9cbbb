"""Small locks that can be installed for real, and folders with them."""

import json
from pathlib import Path

DIGEST = "b6a85871a79d2e3b22d2d1b94ac2824226a63c6b741c88f7ae975f18b6778374"
"""Of the wheel of iniconfig 2.0.0, which is four files and needs nothing."""

LOCK = f"iniconfig==2.0.0 \\\n    --hash=sha256:{DIGEST}\n    # via nothing\n"

OTHER = LOCK.replace(DIGEST, "a" * 64)

IS_NUMBER = "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng=="

PACKAGE = json.dumps({"name": "x", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}})

PACKAGE_LOCK = json.dumps(
    {
        "name": "x",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "packages": {
            "": {"name": "x", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}},
            "node_modules/is-number": {"version": "7.0.0", "integrity": IS_NUMBER},
        },
    },
    indent=2,
)


def submission(folder: Path, **files: str) -> Path:
    """Write files, ``_`` in their names standing for a dot, and return their folder."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_text(text, "utf-8")
    return folder


def script(*lines: str) -> str:
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", ""])
