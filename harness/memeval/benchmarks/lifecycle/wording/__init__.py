"""The words of the benchmark: topics, people, frames and talk, as data."""
