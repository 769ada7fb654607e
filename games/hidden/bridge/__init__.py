"""Contract bridge: `rules` is the game, `state` its position, and the other modules are its parts.

cards         names of cards and calls, and their numbers
scoring       points of duplicate bridge, dealers and vulnerability of boards
state         a position: the deal, the auction, the tricks
sampling      random deals that agree with what a seat knows
bidding       calls by a natural system, Standard American
auction       an auction as the system understands it
system_tables rules of the system, as tables
rules_of_calls what a rule is, and whether a hand fits it
later_calls   rules for calls that no table has
shown         points and cards that calls have shown
hand_value    points, lengths and stoppers of a hand
card_play     cards by rules of thumb, and playouts
double_dummy  tricks with all hands open, exactly
views         observations as text, scenes
rules         the game: parameters, notation, observations
"""
