"""Backgammon: `rules` is the game, `position` its text, `turns` all plays of a roll."""
