"""The content of a site, read once, and how its values are written."""
