"""memeval.benchmarks."""
