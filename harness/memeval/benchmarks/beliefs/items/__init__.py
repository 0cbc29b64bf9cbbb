"""One module a kind of item: from a life to a scenario and its key."""
