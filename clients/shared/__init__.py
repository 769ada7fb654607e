"""Helpers that several commands share.

Commands import these at the top, so they import only click, which keeps ``--help`` fast:

    errors                exit codes, and errors of all packages as one sentence each
    options               options that several commands take, and the server that they name
    output                tables and numbers
    http                  calls of a server's HTTP API
    games                 names of games in options and arguments; the games that bots claim, as
                          defaults
    child_processes       child processes that end with the command
    screen_mode           the choice between screen and plain output
    token_files           the server and token of ``plyhouse login``; files that only their owner
                          can read
    lazy                  the group that imports a command when it is used
    program_settings      settings of the garbage collector, and the event loop

For matches and tables:

    match_text            the events of a match in words
    standings             tables of a leaderboard; the board of a competition
    student_report        a report on a student
    terminal_server       the HTTP API, boards and connection for the screens
    screens               how the screens of the terminal start
"""
