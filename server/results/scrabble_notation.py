"""Records of Scrabble as GCG: see `plyhouse.server.results.notations`."""

from __future__ import annotations

import re
from typing import Any, Final

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.hidden.scrabble.tiles import SIZE, VALUES, square_named, tile_names
from plyhouse.games.position import Position
from plyhouse.server.results.notation_parts import names_of, plain, remarks
from plyhouse.server.results.record import Record

__all__ = ["gcg"]

CHALLENGED: Final = "challenge"


def gcg(record: Record, game: Game, event: str) -> str:
    """Return a match of Scrabble as GCG."""
    names = names_of(record)
    nicks = _nicks(names)
    lines = ["#character-encoding UTF-8"]
    lines += [
        f"#player{seat + 1} {nick} {name}"
        for seat, (nick, name) in enumerate(zip(nicks, names, strict=True))
    ]
    lines += [f"#title {plain(event)}"] if event else []
    lines += [f"#lexicon {game.parameters['dictionary']}", f"#id Plyhouse {record.match}"]
    position = Position(game)
    scores = [0] * game.seats
    for each in record.events:
        if each.kind not in ("action", "chance"):
            continue
        before: Any = position.state
        position.apply(each.seat, each.text)
        state: Any = position.state
        if each.kind == "action":
            for seat, rack, move, points in _turn(before, state, each.seat, each.text):
                scores[seat] += points
                lines.append(_line(nicks[seat], rack, move, points, scores[seat]))
        if state.to_move == TERMINAL:
            for seat, rack, points in _left(state):
                scores[seat] += points
                lines.append(_line(nicks[seat], rack, f"({rack})", points, scores[seat]))
    lines += [f"#note {each}" for each in remarks(record)]
    return "\n".join(lines) + "\n"


def _line(nick: str, rack: str, move: str, points: int, total: int) -> str:
    return " ".join([f">{nick}:", *([rack] if rack else []), move, f"{points:+}", str(total)])


def _turn(before: Any, state: Any, seat: int, text: str) -> list[tuple[int, str, str, int]]:
    """Return seat, rack, move and points of what an action does."""
    rack = tile_names(before.racks[seat])
    if before.laid:
        return _answer(before, state, seat, text)
    if text.startswith("-"):
        return [(seat, rack, text, 0)]
    score = _gained(before, state, seat)
    return [(seat, rack, _play(before.board, text), score)]


def _answer(before: Any, state: Any, seat: int, text: str) -> list[tuple[int, str, str, int]]:
    """Return what follows from the answer to a play."""
    if text != CHALLENGED:
        return []
    player = before.turn
    rack = tile_names(before.racks[player])
    if before.wrong_words():
        held = tile_names(bytes(sorted(state.racks[player])))
        return [(player, held, "--", _lost(before))]
    penalty = before.rules.challenges
    if penalty == "five":
        return [(player, rack, "(challenge)", 5)]
    if penalty == "double":
        return [(seat, tile_names(before.racks[seat]), "-", 0)]
    return []


def _lost(before: Any) -> int:
    """Return what a play that waits has scored, as a loss."""
    changed = before.copied()
    changed._answer(challenged=True)
    return int(changed.scores[before.turn] - before.scores[before.turn])


def _gained(before: Any, state: Any, seat: int) -> int:
    """Return the points of a play, without those of the tiles left at the end."""
    points = state.scores[seat] - before.scores[seat]
    if state.to_move == TERMINAL:
        points -= sum(more for each, _, more in _left(state) if each == seat)
    return int(points)


def _left(state: Any) -> list[tuple[int, str, int]]:
    """Return seat, tiles and points for the tiles that are left at the end."""
    left = [(seat, tile_names(rack), sum(VALUES[tile] for tile in rack))
            for seat, rack in enumerate(state.racks) if rack]  # fmt: skip
    found = [(seat, rack, -points) for seat, rack, points in left]
    out = state.turn
    if not state.racks[out]:
        rack = "".join(rack for _, rack, _ in left)
        found.append((out, rack, sum(points for _, _, points in left)))
    return found


def _play(board: bytes, text: str) -> str:
    """Return a play with points for the letters that are on the board already."""
    name, _, word = text.partition(" ")
    across = name[0].isdigit()
    at = square_named(f"{name[-1]}{name[:-1]}" if across else name)
    step = 1 if across else SIZE
    letters = ["." if board[at + place * step] else letter for place, letter in enumerate(word)]
    return f"{name} {''.join(letters)}"


def _nicks(names: list[str]) -> list[str]:
    """Return names without blanks and colons, each once."""
    nicks: list[str] = []
    for seat, name in enumerate(names):
        nick = re.sub(r"[\s:>#]+", "_", name) or "_"
        nicks.append(f"{nick}_{seat + 1}" if nick in nicks else nick)
    return nicks
