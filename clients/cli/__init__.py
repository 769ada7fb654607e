"""The ``plyhouse`` command; this package contains commands only.

Each command is in the module of its name: ``plyhouse bot new`` is `new_bot`.  `main` lists the
commands and imports a module when its command runs.  The packages beside this one do the work:

    shared         errors and exit codes, options, tables, the HTTP client, lazy groups
    api            the typed client of the HTTP API
    arena          many matches on this machine
    bot_check      ``check``: a bot on a connection that misbehaves
    replay         recorded matches as positions and as HTML
    review         judges positions and finds the ply that lost a match
    runner         the daemon that runs hosted bots
    builtin_bots   processes of the built-in bots of a server
    docgen         generators of documentation pages
    terminal       boards, keys and screens of the terminal
"""
