"""One module a kind of page; found by itself."""
