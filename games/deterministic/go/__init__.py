"""Go: `rules` is the game, `state` its position, `board` chains, liberties and areas."""
