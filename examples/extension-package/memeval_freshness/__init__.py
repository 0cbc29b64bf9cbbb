"""What this package adds to memeval: a page and a check."""
