"""memeval.evaluation."""
