"""Bridges between Plyhouse's games and the libraries of the field, in both directions.

Each needs an optional dependency; see docs/libraries.md.

    numbering          actions as numbers from 0
    encoding           observations as vectors of numbers
    pettingzoo_env     a game as an environment of PettingZoo, one agent for each seat
    gymnasium_env      one seat of a game as an environment of Gymnasium
    openspiel_game     our games registered with OpenSpiel
    openspiel_import   OpenSpiel's games as ours, named ``openspiel:GAME``
"""
