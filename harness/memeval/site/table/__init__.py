"""Tables of runs: columns, ranks, and the overview of the front page."""
