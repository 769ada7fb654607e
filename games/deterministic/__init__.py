"""Games of skill alone: everything is seen, nothing is rolled.

Tic-tac-toe is the one to read first.  A game of several modules has a folder, where `rules` is
the game.
"""
