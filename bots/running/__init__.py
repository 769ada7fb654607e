"""A run of a bot on a server: its matches, its options, and what came of it."""
