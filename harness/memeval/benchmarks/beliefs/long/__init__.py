"""beliefs@1 in sizes: the same lives and questions in histories from ten thousand to ten million tokens.

Ten people, ten questions each. What the questions rest on is the same at every size, word for word and day for day;
what grows is other talk between it. A history is made session by session when it is asked for, and never held.
"""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""The tiers, each with the tokens of a history: of what is said, without names and dates."""

SHARED = 10_000_000
"""From this size on there is one history, in which all lives stand."""

PEOPLE = 10
"""How many lives there are."""

EACH = 20
"""Items in each category."""
