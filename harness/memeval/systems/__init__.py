"""memeval.systems."""
