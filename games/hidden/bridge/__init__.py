"""Contract bridge: `rules` is the game, `state` its position, and the other modules are its parts.

scoring   points and IMPs of a board
state     a position: hands, auction, tricks
sampling  deals that fit what a seat knows
views     observations and the scene
rules     the game: parameters, notation, observations
"""
