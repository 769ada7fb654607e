"""Seeks, challenges and matchmaking: how opponents find each other outside of competitions."""
