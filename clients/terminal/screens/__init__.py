"""Screens of the terminal client, with Textual, which is imported nowhere else.

board       the widget that draws a scene and lets people choose
seats       who plays, with clocks; what was played
track       the line with which one goes through a match
match       a match: played, watched, stepped through
lobby       games to play, open seeks, running matches
standings   leaderboards and tables of competitions
help        the keys of a screen
app         the application: which screen comes first
"""
