"""The four domains of the release, in the order that decides ties."""

DOMAINS = ("Beauty_and_Personal_Care", "Books", "Electronics", "Home_and_Kitchen")
"""Domains in their fixed order; the paper has twelve, and these are what was released."""
