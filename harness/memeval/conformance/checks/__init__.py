"""The checks, by what they look at. Each is a function of the system under check; the table is in ``suite``."""
