"""Texas hold'em: `rules` is the game, `state` its position, and the other modules are its parts.

ranking   strength of hands of five to seven cards
pots      main pot, side pots, and their division
stakes    stacks, blinds, ante, limit and hands of a match
state     a position: cards, betting, and the hands of a match
equity    chances in a showdown, by simulation
views     observations as text, scenes
rules     the game: parameters, notation, observations
"""
