"""Running scenarios through a system: the order of steps, retries, and the journal on disk."""
