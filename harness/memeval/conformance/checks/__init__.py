"""The checks by subject. Each is a function of the checked system; the table is in ``suite``."""
