"""Measures released versions of a product, each in an environment of the day of its release."""
