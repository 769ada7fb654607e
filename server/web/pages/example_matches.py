"""Example matches of games, for people who do not know a game and for a server without matches.

Chess is Morphy's "Opera Game"; the others were played by `alpha_beta` from a random opening.
"""

from __future__ import annotations

import functools
from typing import Final

import msgspec

from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api import matches
from plyhouse.server.match.views import Views

SHOWN: Final = "chess"
"""The game of the match that the home page shows where none can be shown."""
PLAYERS: Final = {"chess": "Morphy - Duke of Brunswick and Count Isouard, Paris 1858"}

EXAMPLES: Final = {
    "breakthrough": """
        e2e3 d7e6 e3d4 e6d5 d4c5 c7b6 c5b6 a7b6 b2a3 d5c4 a2b3 b6b5 a3b4 b7a6 b4a5 e7d6 a5b6 d8c7
        b3c4 b5c4 c2b3 c4b3 b1a2 b3a2 b6c7 a2b1""",
    "checkers": """
        9-13 21-17 10-14 17x10 6x15 22-18 15x22 26x17 13x22 25x18 7-10 23-19 10-14 18x9 5x14 29-25
        2-6 24-20 1-5 27-24 6-9 25-22 9-13 22-18 14x23 31-27 5-9 27x18 11-16 20x11 8x22 19-16 12x19
        24x15 3-7 28-24 7-11 15x8 4x11""",
    "chess": """
        e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5 Nbd7
        O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7 Nxd7 Qb8 Nxb8 Rd8""",
    "connect_four": """
        2 4 4 4 4 4 4 6 5 5 5 5 5 5 6 7 6 6 6 6 2 2 2 3 2 2 7 1 3 3 3 3 1""",
    "hexapawn": "a1a2 b3a2 b1a2 c3c2",
    "kalah": """
        1 5 3 3 1 6 5 3 1 4 4 3 6 2 5 4 2 1 4 5 6 6 3 6 2 3 4 6 5 6 4 6 5 6 4 6 3 2 1 5 5 6 3 4 4 5
        6 5 6 3 6""",
    "nim": "1:2 3:2 1:1 2:1 2:1 3:1 2:1 3:1 2:1 3:1",
    "othello": """
        e6 f6 f5 f4 g4 e7 d7 c5 g6 g5 e3 d6 c6 f7 h5 c4 d3 c8 b3 h3 f3 e2 g3 f2 d2 c7 b4 h6 h7 c2
        c1 d1 c3 b1 f1 b5 a6 e1 a1 a4 f8 a2 e8 b2 d8 g8 b7 b6 b8 a8 g7 h8 a3 a5 a7 h4 pass h2 g2 g1
        h1""",
    "tic_tac_toe": "c3 b1 a3 b3 b2 a1 c1",
}
"""The actions of each match."""


@functools.cache  # bounded: by the examples
def example(name: str) -> bytes:
    """Return the positions of a game's example as JSON, in the form of a replay."""
    game = get_game(name)
    views, position = Views(game, game.seats), Position(game)
    frames = [matches.Position(0, [], views.drawn(position.state, None)[1], None)]
    for text in EXAMPLES[name].split():
        position.apply(position.mover, text)
        scene = views.drawn(position.state, None)[1]
        frames.append(matches.Position(position.ply, [], scene, None))
    shown = matches.Replay("", game.spec, None, True, position.ply, frames)
    return msgspec.json.encode(shown)
