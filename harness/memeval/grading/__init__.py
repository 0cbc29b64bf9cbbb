"""Graders, their metrics, and scores from grades."""
