"""Hearts: `rules` is the game, `state` its position, and the other modules are its parts.

state     a position: hands, passed cards, tricks, and points
passing   cards to pass, by rules of the books
views     observations and the scene
rules     the game: parameters, notation, observations; deals that fit what a seat knows
"""
