"""Wording packs: the vocabulary and sentences of an edition, as data."""
