"""Tiers by length: the same lives and questions in histories of ten thousand to ten million tokens.

Only unrelated sessions are added to a history, session by session on demand; it is never kept in memory.
"""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Tokens of a history in each tier, counted over the text of turns only."""

SHARED = 10_000_000
"""From this size on, all lives share one history."""
