"""Checkers: `rules` is the game, `moves` what pieces do, `notation` PDN and FEN."""
