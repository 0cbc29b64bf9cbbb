"""The four released domains, in the order that decides ties."""

DOMAINS = ("Beauty_and_Personal_Care", "Books", "Electronics", "Home_and_Kitchen")
"""Domains in their fixed order. The paper has twelve; these four were released."""
