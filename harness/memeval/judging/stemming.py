"""NLTK's Porter stemmer, without the rest of NLTK.

``import nltk`` takes two seconds and loads SciPy where it is installed, and whoever grades needs one module of it. So
``nltk.stem.porter`` is loaded under empty packages of the names above it, which leave again afterwards: what imports
NLTK later gets the whole of it.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_PACKAGES = ("nltk", "nltk.stem")
_MODULE = "nltk.stem.porter"
_LOADING = threading.Lock()

_KEPT_CHARACTERS = 40
"""What a longer word comes to is worked out anew each time."""


def stem(word: str) -> str:
    """Return the stem of a word by Porter's algorithm with NLTK's extensions, its default mode.

    Porter, "An algorithm for suffix stripping", Program 14.3, 1980. Snowball's English stemmer, Porter's own second
    version, is another one.
    """
    return _kept(word) if len(word) <= _KEPT_CHARACTERS else _stemmer()(word)


@lru_cache(maxsize=65_536)
def _kept(word: str) -> str:
    return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    with _LOADING:
        found: Callable[[str], str] = _alone().PorterStemmer().stem
        return found


def _alone() -> ModuleType:
    """Return the stemmer's module without running what NLTK's packages run when they are imported."""
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
