"""Games without chance and without hidden information.

Read tic-tac-toe first.  A game of several modules has a folder, whose module `rules` holds the
game.
"""
