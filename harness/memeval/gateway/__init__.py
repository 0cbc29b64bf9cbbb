"""Every call to a language or embedding model, whoever makes it: recorded, metered, limited, replayable."""
