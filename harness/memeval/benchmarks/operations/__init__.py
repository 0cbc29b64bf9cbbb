"""operations@1: what is left after a crash, a power cut or a fault of the disk, with real processes."""

from memeval.benchmarks.operations.benchmark import OperationsBenchmark

__all__ = ["OperationsBenchmark"]
