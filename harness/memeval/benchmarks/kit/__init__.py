"""What generated benchmarks share: lives, talk, seeds, kept data and tiers by length. No benchmark itself."""
