"""Bots of Plyhouse as engines, for programs that play with engines.

    requests      questions of a protocol to a bot, and the bot's answer
    uci_service   UCI without I/O: for fastchess, cutechess and chess programs
    gtp_service   GTP without I/O: for Sabaki and go programs; the times of GTP and KGS
    shell         a bot in its process, standard input and standard output

`plyhouse.bots.engines` is the other direction.
"""
