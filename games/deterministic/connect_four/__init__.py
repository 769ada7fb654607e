"""Connect four: `rules` is the game, `lines` counts discs in a row."""
