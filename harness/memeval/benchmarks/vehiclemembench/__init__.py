"""VehicleMemBench: preferences of several people who share a car, and the calls that set it."""

from memeval.benchmarks.vehiclemembench.benchmark import VehicleMemBenchmark

__all__ = ["VehicleMemBenchmark"]
