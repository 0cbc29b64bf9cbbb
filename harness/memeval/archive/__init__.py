"""memeval.archive."""
