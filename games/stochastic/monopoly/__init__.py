"""Monopoly: `rules` is the game, `state` its position, and the other modules are its parts.

board      the forty spaces, prices and rents
cards      the two decks of sixteen cards
position   what a position holds: money, deeds, buildings, the phase of the turn
offers     what may be traded for what
legal      legal actions by phase, and the numbers of actions
auctions   bids and what follows
events     what happens: moves, rents, debts, bankruptcies, trades
valuation  what deeds and money are worth to a seat
policy     a player by rules, for playouts and the bot
state      the position as searches see it
legality   notation of actions, and the rule that an illegal one breaks
views      observations
scenes     what people see: the board, what each seat has, trades, choices
rules      the game: parameters, notation, observations
"""
