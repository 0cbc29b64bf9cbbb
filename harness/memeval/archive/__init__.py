"""The run archive: stored runs, their integrity, and the ledger."""
