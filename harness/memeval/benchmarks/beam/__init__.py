"""BEAM: long conversations with an assistant, of 100,000 to ten million tokens, and questions about ten abilities."""

from memeval.benchmarks.beam.benchmark import BeamBenchmark

__all__ = ["BeamBenchmark"]
