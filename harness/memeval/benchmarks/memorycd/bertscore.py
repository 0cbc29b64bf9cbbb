"""BERTScore of a set of texts, if the package ``bert-score`` and its model are installed.

It is not part of a grade: grades must be reproducible everywhere, and the model has 1.4 GB. It runs in a separate
process without downloads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
"""Names of the metrics."""

SECONDS = 4 * 3600
"""Time limit, in seconds."""

_SCORE = """
import json, sys
from bert_score import score
texts = json.load(sys.stdin)
scores = score(texts["predictions"], texts["references"], lang="en", verbose=False, device="cpu")
print(json.dumps([float(each.mean()) for each in scores]))
"""


def bert_scores(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float | None]:
    """Return the means of BERTScore's precision, recall and F1 in English; ``None`` if they cannot be computed.

    Args:
        predictions: the predicted texts.
        references: the reference texts, one per prediction.
    """
    unknown: dict[str, float | None] = dict.fromkeys(NAMES)
    if not predictions or find_spec("bert_score") is None:
        return unknown
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
        return unknown
