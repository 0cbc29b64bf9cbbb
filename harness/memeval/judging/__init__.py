"""Judges: they give verdicts on answers, by a model or by rules."""
