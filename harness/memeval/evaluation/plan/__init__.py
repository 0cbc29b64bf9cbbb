"""Plans of runs: systems on benchmarks, read from a file or made by a command, and the one loop that makes the runs."""
