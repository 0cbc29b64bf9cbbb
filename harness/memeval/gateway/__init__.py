"""All calls to language and embedding models: recorded, metered, rate-limited, replayable."""
