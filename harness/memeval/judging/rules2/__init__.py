"""``rules@2``: reference answers in words, by meaning as far as general rules of language go."""
