"""Stands in for tokenizers in tests."""
