"""memeval.statistics."""
