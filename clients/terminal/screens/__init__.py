"""Screens of the terminal client with Textual; no other package imports Textual.

They draw a `plyhouse.clients.terminal.followed_match.FollowedMatch` and know no game:

board       the widget that draws a scene and lets people choose
actions     the legal actions, to be found by typing
seats       who plays, with clocks; what was played
replay_control  steps, plays and follows; the pace of positions that come too fast to see; the line
                with which you move through a match
match_options   questions before a match
match       a match: played, watched, stepped through
lobby       games to play, open seeks, running matches
standings   leaderboards and tables of competitions
help        the keys of a screen
app         the application: which screen comes first
"""
