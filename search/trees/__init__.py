"""Searches of the game tree: minimax and all that prunes, orders or generalises it."""
