"""Checkers: `rules` is the game, `moves` what pieces do, `notation` PDN and FEN.

`endgames` has a table of positions with few pieces.
"""
