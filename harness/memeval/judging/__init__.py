"""memeval.judging."""
