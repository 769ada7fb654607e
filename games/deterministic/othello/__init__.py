"""Othello: `rules` is the game, `board` knows discs, `endings` solves the last plies."""
