"""memeval.leaderboard."""
