"""Looking into finished runs: failures, comparisons, metrics of suites, and gates of matrices. Nothing is run here."""
