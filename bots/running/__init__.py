"""A run of a bot on a server: `run_bot` in `python_session`, and its parts.

python_session    runs a bot that is loaded from a spec
bot_session       connection, matches and results of a run, also of hosted programs
match_player      one match: the server's messages in, actions out
history           counts the messages of a match
time_management   how long to think about an action
ask_bot           asks a bot again about one position of a finished match
run_options       options and results of a run, and signals while it runs; the accepted games
                  and their names on the wire; challenges of named opponents
digest            the digest of a bot's files
"""
