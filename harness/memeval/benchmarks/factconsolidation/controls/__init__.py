"""Controls of order: searches by words alone that lose the order of the facts, or know nothing else."""
