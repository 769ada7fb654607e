"""Bots of others on our machine: what they hand in, and how it is played.

    package      what may be handed in, read and checked without running anything
    build        a package as a read-only tree, under the name of what it holds
    program      bots in other languages: protocol v1 as lines of JSON
    program_match    one match as its program plays it
    program_process  one process of a program
    host         one built package, ready to play: in a sandbox, with its times noted

Where they are confined is `plyhouse.bots.sandbox`.
"""
