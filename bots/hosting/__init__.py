"""Run submitted bots of other people on this machine.

    build            builds a package into a read-only tree
    program_session  bots in other languages: protocol v1 as lines of JSON
    program_match    one match as such a program plays it
    program_process  one process of a program
    hosted_session   a built package, ready to play in a sandbox; a bot of this machine in the same
                     sandbox

`plyhouse.bots.local_packages` reads packages, `plyhouse.bots.sandbox` confines bots.
"""
