"""``make simulate``: error rates, power and coverage of the ranks, on the layouts of real benchmarks."""
