"""memeval.grading."""
