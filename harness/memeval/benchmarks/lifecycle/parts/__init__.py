"""The six parts: each writes scenarios with probes."""
