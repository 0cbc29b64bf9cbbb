"""Key phrases: the words that show that an answer states a fact of DeepMemEval."""

from __future__ import annotations

import re
from functools import lru_cache

from memeval.keys import Fact

_LEAD = re.compile(r"^(?:.*\buses |the |an? )", re.IGNORECASE)


def key_phrase(fact: str) -> str:
    """Return the words that distinguish a fact of this data from others.

    The words between the first word and the first ``for``, if there are any, else the second word:
    "Uses Drone CI for CI/CD pipelines" gives "Drone CI", "Uses Jenkinsfile declarative pipelines" gives "Jenkinsfile".

    Args:
        fact: a fact as in the data, of at least two words.
    """
    words = fact.split()
    end = words.index("for", 1) if "for" in words[1:] else 0
    return " ".join(words[1:end]) if end > 1 else words[1]


@lru_cache(maxsize=1024)
def fact_of(text: str) -> Fact:
    """Return a fact with its key phrase, and with an alias if the phrase starts with a verb or an article.

    "Team uses Discord for real-time communication" has the key phrase "uses Discord"; the alias "Discord" is also
    correct. The alias of "the ELK stack" is "ELK stack".
    """
    phrase = key_phrase(text)
    return Fact(text=text, phrases=tuple(dict.fromkeys((phrase, _LEAD.sub("", phrase)))))
