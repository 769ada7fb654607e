"""A machine that runs bots for their authors: `plyhouse runner`.

machine     what it was told to have, and what it has, brought together again and again
packages    what is to be run: fetched by digest, built once
checking    submissions looked at by ``plyhouse check --sandbox``, a program of its own
"""
