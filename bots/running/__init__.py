"""A run of a bot on a server.

runner             the whole run: `run_bot`
play               one match of it: the server's messages in, actions out
history            what was told of a match, counted
time_management    how long to think about an action
accepted           the games it accepts, and their names on the wire
run_options        what can be asked of a run
summary            what came of it
"""
