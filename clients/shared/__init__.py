"""What the commands have in common.

Nothing here imports more than click when it is imported, so that ``--help`` is fast:

    errors     exit codes, and errors of the whole house as one sentence
    options    options that several commands take
    output     tables and numbers for people
    http       the server's API, called
    lazy       the group that imports a command when it is used
    garbage    what the garbage collector does in a program of ours
"""
