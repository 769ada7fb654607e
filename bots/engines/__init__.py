"""Bots that play by engines of other authors.

An engine is a program that plays over standard input and output.  Each protocol has a client
without I/O, and a bot that runs it:

    uci, uci_bot          UCI: Stockfish, Fairy-Stockfish and most chess engines
    xboard, xboard_bot    XBoard (CECP), version 2: older chess engines, Fairy-Stockfish
    gtp, gtp_bot          GTP: GNU Go and most go engines
    gnubg, gnubg_bot      the text interface of GNU Backgammon; our backgammon positions and turns
                          as GNU Backgammon writes them
    command_bot           protocol v1 as lines of JSON: programs in any language

These are common to all of them:

    errors                `EngineError`, which says what to do
    engine_process        runs the program: the only module here that starts processes; finds the
                          program of an engine, and knows its usual arguments
    engine_bot            `EngineBot`: one engine for each process of a bot; our clocks as engines
                          know them
    variants              our games by the names of UCI and XBoard, and their moves
"""
