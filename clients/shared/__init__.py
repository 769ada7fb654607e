"""Helpers that several commands share.

The modules that commands import at the top need no more than click, so that ``--help`` is fast:

    errors       exit codes, and errors of all packages as one sentence each
    options      options that several commands take
    output       tables and numbers
    http         calls of a server's HTTP API
    games        names of games in options and arguments
    organising   requests, confirmations and files of organisers
    processes    child processes that end with the command
    screens      choice between screen and plain output
    standings    tables of a leaderboard
    secret_files files that only their owner can read
    lazy         the group that imports a command when it is used
    garbage      settings of the garbage collector
"""
