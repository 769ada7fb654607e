"""Chess: `rules` is the game; the board, the notations and the estimate stand apart."""
