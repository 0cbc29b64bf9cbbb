"""Tests what is stored: recomputes it, regrades it, and draws samples to ask and run again."""
