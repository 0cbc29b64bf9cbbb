"""NLTK's Porter stemmer, without the rest of NLTK.

``import nltk`` takes two seconds and loads SciPy if installed, but grading needs one module only. So
``nltk.stem.porter`` is loaded under empty parent packages, which are removed afterwards. A later import of NLTK loads
all of it.
"""

import importlib
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from memeval.remembered import of_short_texts

_PACKAGES = ("nltk", "nltk.stem")
_MODULE = "nltk.stem.porter"
_LOADING = threading.Lock()


@of_short_texts(65_536, characters=40)
def stem(word: str) -> str:
    """Return the stem of a word by Porter's algorithm with NLTK's extensions, its default mode.

    Porter, "An algorithm for suffix stripping", Program 14.3, 1980. Snowball's English stemmer, Porter's second
    version, differs.
    """
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    with _LOADING:
        found: Callable[[str], str] = _stemmer_module().PorterStemmer().stem
        return found


def _stemmer_module() -> ModuleType:
    """Return the stemmer's module without running the imports of NLTK's packages."""
    top = _PACKAGES[0]
    if top in sys.modules:
        return importlib.import_module(_MODULE)
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("memeval needs NLTK for token F1, and it is not installed.", name=top)
    site = Path(spec.origin).parent.parent
    for name in _PACKAGES:
        empty = ModuleType(name)
        empty.__path__ = [str(site.joinpath(*name.split(".")))]
        sys.modules[name] = empty
    try:
        return importlib.import_module(_MODULE)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == top]:
            del sys.modules[name]
