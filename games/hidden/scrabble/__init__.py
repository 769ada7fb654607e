"""Scrabble: `rules` is the game, `state` its position, and the other modules are its parts.

tiles        letters, their values and numbers, and the squares of the board
words        word lists, as graphs of letters
build_words  the command that builds the file of a word list
lines        words and empty squares along rows and columns
legality     which rule an illegal action breaks
plays        all plays of a position, and their scores
match_rules  the tables of a match
action_lists the actions of a rack: all of them, or a list that takes few steps
state        a position: board, racks, bag, scores
views        observations and the scene
leaves       what tiles kept on the rack are worth
simulation   values of actions by random draws and best answers
rules        the game: parameters, notation, observations; racks that fit what a seat knows

The word list ``enable.bin`` is public domain; `words` says where it comes from.  Scrabble is a
trademark of others, with whom Plyhouse has no connection.
"""
