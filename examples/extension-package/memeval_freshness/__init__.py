"""What this package adds to memeval: a page."""
