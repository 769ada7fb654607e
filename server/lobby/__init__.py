"""Seeks, challenges and matchmaking, outside of competitions."""
