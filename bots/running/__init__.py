"""A run of a bot on a server.

`run_bot` in `runner` is all of it; the others are its parts:

    play               one match: the server's messages in, actions out
    history            what was told of a match, counted
    time_management    how long to think about an action
    accepted           the games that are accepted, and their names on the wire
    asking             one position of a match that is over, asked again
    run_options        what can be asked of a run
    summary            what came of it
"""
