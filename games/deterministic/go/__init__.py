"""Go: `rules` is the game, `board` chains, liberties and areas."""
