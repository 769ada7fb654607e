"""Screens of the terminal client, with Textual, which is imported nowhere else.

They draw what `plyhouse.clients.terminal.course` knows of a match, and know no game:

board       the widget that draws a scene and lets people choose
actions     the legal actions, to be found by typing
seats       who plays, with clocks; what was played
track       the line with which one goes through a match
match       a match: played, watched, stepped through
lobby       games to play, open seeks, running matches
standings   leaderboards and tables of competitions
help        the keys of a screen
app         the application: which screen comes first
"""
