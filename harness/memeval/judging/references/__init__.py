"""Reference answers in words, compared by meaning as far as general rules of language go."""
