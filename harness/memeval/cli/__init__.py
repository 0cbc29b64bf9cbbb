"""memeval.cli."""
