"""The ``plyhouse`` command, the one place where all rooms of the house meet.

A command lives in the module of its name, so ``plyhouse new-bot`` is `new_bot`; `main` has the
list of them, and imports one only when it is used.  What stands behind several commands:

    shared      errors and exit codes, options, tables, the HTTP client, the lazy group
    arena       many matches on this machine, and the hub in memory that they are played on
    checking    ``check``: a bot examined over a connection that misbehaves

    moves, played           what people and files say was played, read
    demo_bots               weak bots for ``demo``
    reference, game_pages   write pages of the documentation: ``python -m`` the module
"""
