"""Battleship: `rules` is the game, `state` its position, `fleet` where ships can lie."""
