"""BERTScore of a set of texts, where the package ``bert-score`` and its model are on this machine already.

It is no part of a grade: grades can be computed again everywhere, and the model has 1.4 GB. It runs in a process of its
own, which may not fetch anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
"""What is measured."""

SECONDS = 4 * 3600
"""The longest it may take."""

_SCORE = """
import json, sys
from bert_score import score
told = json.load(sys.stdin)
found = score(told["predictions"], told["references"], lang="en", verbose=False, device="cpu")
print(json.dumps([float(each.mean()) for each in found]))
"""


def bert_scores(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float | None]:
    """Return the means of BERTScore's precision, recall and F1 in English, each ``None`` where it cannot be computed.

    Args:
        predictions: the texts that are measured.
        references: the texts that are aimed at, one each.
    """
    nothing: dict[str, float | None] = dict.fromkeys(NAMES)
    if not predictions or find_spec("bert_score") is None:
        return nothing
    try:
        done = subprocess.run(
            [sys.executable, "-c", _SCORE],
            input=json.dumps({"predictions": list(predictions), "references": list(references)}),
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        return dict(zip(NAMES, json.loads(done.stdout.splitlines()[-1]), strict=True))
    except (subprocess.SubprocessError, ValueError, IndexError, TypeError):
        return nothing
