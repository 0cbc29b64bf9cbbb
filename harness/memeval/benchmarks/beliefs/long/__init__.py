"""beliefs@2 in tiers by length: ten lives with their questions, in histories of ten thousand to ten million tokens.

The sessions of a life are the same at every size; only filler sessions are added, in the words of the public packs. The
lives occur in no other tier. A history is generated session by session on demand and never kept in memory.
"""

PEOPLE = 10
