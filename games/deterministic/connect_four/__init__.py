"""Connect four: `rules` is the game, `lines` counts discs in a row.

`endgames` solves the last plies, `book` has values of the first ones.
"""
