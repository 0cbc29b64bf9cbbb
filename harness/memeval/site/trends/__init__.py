"""Trends, as charts and as rows of files."""
