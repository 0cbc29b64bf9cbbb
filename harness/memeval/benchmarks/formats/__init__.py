"""Import and export formats: what they share."""
