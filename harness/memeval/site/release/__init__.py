"""Releases: built, published to a target, and checked."""
