"""beliefs@1 in tiers by length: the same lives and questions in histories of ten thousand to ten million tokens.

Ten people, ten questions each. The relevant sessions are the same at every size; only unrelated sessions are added. A
history is generated session by session on demand and never kept in memory.
"""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Tokens of a history in each tier, counted over the text of turns only."""

SHARED = 10_000_000
"""From this size on, all lives share one history."""

PEOPLE = 10
"""Number of lives."""

EACH = 20
"""Items in each category."""
