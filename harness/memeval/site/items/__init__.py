"""The data behind the questions of a run, in shards that a page loads on demand."""
