"""Systems that cheat, each in its own way. Every one answers with what it came away with, as a JSON list."""
