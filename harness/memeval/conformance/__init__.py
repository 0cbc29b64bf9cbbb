"""Whether a system keeps to the adapter contract: checks with planted facts, before any scenario is run."""
