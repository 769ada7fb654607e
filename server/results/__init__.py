"""What remains of matches: records, their verification, ratings and leaderboards."""
