"""memeval.execution."""
