"""The leaderboard: tracks, ranks, releases."""
