"""Models of every file memeval reads or writes, with schema versions; nothing else."""
