"""memeval.site."""
