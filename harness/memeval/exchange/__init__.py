"""Answers in the formats of others: those made elsewhere, to be graded here, and ours, for others to read."""
