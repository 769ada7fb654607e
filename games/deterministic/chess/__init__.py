"""Chess: `rules` is the game; the board, the notations and the evaluation stand apart."""
