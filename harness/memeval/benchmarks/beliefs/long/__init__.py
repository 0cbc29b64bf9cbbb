"""beliefs@1 in sizes: the same lives and questions in histories from ten thousand to ten million tokens.

Ten people, ten questions each. What the questions rest on is the same at every size, word for word and day for day;
what grows is other talk between it. A history is made session by session when it is asked for, and never held.
"""
