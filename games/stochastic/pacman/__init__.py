"""Pacman: `rules` is the game, `maze` its layouts."""
