"""Records of board games as PGN, PDN, SGF, MAT and GCG: see `plyhouse.server.results.notations`."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.deterministic.chess.notation import san
from plyhouse.games.deterministic.go.state import COLUMNS
from plyhouse.games.hidden.scrabble.tiles import SIZE, VALUES, square_named, tile_names
from plyhouse.games.position import Position
from plyhouse.server.match.time_control import SECOND, TimeControl
from plyhouse.server.results.notation_parts import (
    actions_of,
    comments,
    date_of,
    names_of,
    plain,
    positions,
    remarks,
    result_of,
    tags_text,
    wrapped,
)
from plyhouse.server.results.record import Record, RecordEvent

TERMINATIONS: Final = {
    "flag_fall": "time forfeit",
    "illegal_action": "rules infraction",
    "disconnect": "abandoned",
    "no_show": "abandoned",
    "bot_crash": "abandoned",
    "no_answer": "rules infraction",
    "aborted": "abandoned",
    "server_fault": "emergency",
}
"""Values of PGN's tag ``Termination``; ``normal`` for all others."""

PER_CENTIPAWN: Final = 0.00184
"""The inverse hyperbolic tangent of an expected return, per hundredth of a pawn."""

HIGHEST: Final = 0.9999
"""Expected returns beyond it are written as this one."""

MAT_POINTS: Final = 3
"""Length of a match in MAT: gammons and backgammons count, which they would not do in a session
(of 0 points) without a doubled cube."""


def pgn(record: Record, game: Game, event: str) -> str:
    """Return a match of chess as PGN."""
    result = result_of(record, first="1-0", second="0-1", drawn="1/2-1/2")
    position = Position(game)
    seen: Any = game.observe(position.state, None)
    more = [("Termination", _termination(record))]
    if record.parameters.get("start", 518) != 518:
        more.append(("Variant", "Chess960"))
    if record.parameters.get("fen") or record.parameters.get("start", 518) != 518:
        more += [("SetUp", "1"), ("FEN", seen.fen)]
    moves: list[str] = []
    number = int(seen.fen.split()[5])
    numbered = False
    for each in record.events:
        if each.kind != "action":
            continue
        state, black = position.state, position.mover == 1
        if not black or not numbered:
            moves.append(f"{number}..." if black else f"{number}.")
        moves.append(san(state.position, game.parse(state, each.text), state.actions()))
        note = _note(each, -1 if black else 1)
        moves += [note] if note else []
        numbered = not note  # a comment is followed by the number
        position.apply(position.mover, each.text)
        number += black
    tags = _tags(record, event, more, white=0, black=1, result=result)
    return tags_text(tags, [*moves, *comments(record), result])


def pdn(record: Record, game: Game, event: str) -> str:
    """Return a match of checkers as PDN."""
    result = result_of(record, first="0-1", second="1-0", drawn="1/2-1/2")
    more = [("GameType", "21")]
    fen = record.parameters.get("position")
    turn = 0
    if fen:
        more += [("SetUp", "1"), ("FEN", str(fen))]
        turn = Position(game).mover
    moves: list[str] = []
    for at, text in enumerate(actions_of(record), start=turn):
        if at % 2 == 0:
            moves.append(f"{at // 2 + 1}.")
        elif not moves:
            moves.append(f"{at // 2 + 1}...")
        moves.append(text)
    tags = _tags(record, event, more, white=1, black=0, result=result)
    return tags_text(tags, [*moves, *comments(record), result])


def sgf(record: Record, game: Game, event: str) -> str:
    """Return a match of go as SGF."""
    size = game.int_parameter("size")
    position = Position(game)
    start: Any = game.observe(position.state, None)
    setup = ""
    for colour, mark in (("AB", "x"), ("AW", "o")):
        points = [
            f"[{chr(97 + column)}{chr(97 + row)}]"
            for row, line in enumerate(start.board)
            for column, here in enumerate(line)
            if here == mark
        ]
        setup += colour + "".join(points) if points else ""
    if setup:
        setup += f"PL[{'BW'[position.mover]}]"
    nodes = []
    for text in actions_of(record):
        nodes.append(f";{'BW'[position.mover]}[{_point(text, size)}]")
        position.apply(position.mover, text)
    end: Any = game.observe(position.state, None)
    komi = f"KM[{record.parameters['komi']:g}]"
    board = f"SZ[{size}]{komi}RU[Chinese]{setup}"
    return _smart_game("GM[1]", board, nodes, record, event, end.lead)


def othello_sgf(record: Record, game: Game, event: str) -> str:
    """Return a match of othello as SGF."""
    position = Position(game)
    nodes = []
    for text in actions_of(record):
        point = "" if text == "pass" else _from_above(text)
        nodes.append(f";{'BW'[position.mover]}[{point}]")
        position.apply(position.mover, text)
    state: Any = position.state
    lead = state.black.bit_count() - state.white.bit_count()
    lead = lead if position.mover == TERMINAL else None
    return _smart_game("GM[2]", "SZ[8]", nodes, record, event, lead)


def mat(record: Record, game: Game, event: str) -> str | None:
    """Return a match of backgammon as MAT; None if it does not begin as usual."""
    if record.parameters.get("position"):
        return None
    one, other = names_of(record)
    lines = [
        f'; [Event "{plain(event or "?")}"]',
        f'; [EventDate "{date_of(record, ".")}"]',
        *(f"; {each}" for each in remarks(record)),
        *("", f" {MAT_POINTS} point match", "", " Game 1"),
        _columns(f" {_mat_name(one)} : 0", 34, f"{_mat_name(other)} : 0"),
    ]
    rows: list[list[str]] = []
    dice = ""
    for each in record.events:
        if each.kind == "chance":
            dice = "".join(sorted(each.text, reverse=True))
        elif each.kind == "action":
            turn = "" if each.text == "pass" else each.text
            cell = f"{dice}: {turn}".rstrip() if turn else f"{dice}: Cannot Move"
            if each.seat == 0 or not rows or len(rows[-1]) == 2:
                rows.append(["", cell] if each.seat == 1 else [cell])
            else:
                rows[-1].append(cell)
    for number, row in enumerate(rows, start=1):
        left, right = (*row, "")[:2]
        lines.append(_columns(f"{number:>3}) {left}", 35, right))
    returns = record.outcome.returns if record.outcome is not None else ()
    if returns and max(returns) > 0 and record.void_reason is None:
        points = round(max(returns))
        text = f"Wins {points} point{'s' if points != 1 else ''}"
        place = 6 if returns[0] > returns[1] else 36
        lines.append(f"{'':<{place}}{text}")
    return "\n".join(lines) + "\n"


def _columns(left: str, width: int, right: str) -> str:
    """Return a line of two columns, which never run together."""
    return f"{left:<{width - 2}}  {right}".rstrip()


def _mat_name(name: str) -> str:
    """Return a name without what separates it from its points."""
    return name.replace(":", ".") or "?"


def _termination(record: Record) -> str:
    outcome = record.outcome
    if outcome is None:
        return "unterminated"
    return "abandoned" if record.void_reason else TERMINATIONS.get(outcome.termination, "normal")


def _note(event: RecordEvent, sign: int) -> str:
    """Return the clock after a move and what its bot expected, as comments of PGN have them."""
    parts = []
    if event.remaining_ns > 0:
        tenths = event.remaining_ns * 10 // SECOND
        minutes, rest = divmod(tenths, 600)
        seconds = f"{rest // 10:02}" + (f".{rest % 10}" if rest % 10 else "")
        parts.append(f"[%clk {minutes // 60}:{minutes % 60:02}:{seconds}]")
    value = event.info.value if event.info is not None else None
    if value is not None and math.isfinite(value):
        pawns = sign * math.atanh(max(-HIGHEST, min(HIGHEST, value))) / PER_CENTIPAWN / 100
        parts.append(f"[%eval {pawns:.2f}]")
    return f"{{{' '.join(parts)}}}" if parts else ""


def _time_control(text: str) -> str:
    """Return a time control as PGN has it; ``?`` for one that it does not have.

    >>> [_time_control(each) for each in ("total:5+0.1", "total:60", "move:1", "bank:1+9")]
    ['5+0.1', '60', '?', '?']
    """
    control = TimeControl.parse(text)
    main, increment = control.main_ns, control.increment_ns
    if control.kind != "total" or main % SECOND:
        return "?"
    return f"{main // SECOND}" + (f"+{increment / SECOND:g}" if increment else "")


def _tags(
    record: Record,
    event: str,
    more: list[tuple[str, str]],
    *,
    white: int,
    black: int,
    result: str,
) -> list[tuple[str, str]]:
    """Return the seven tags of PGN and PDN, then others by name; ``Site`` has the match id."""
    names = names_of(record)
    versions = (("WhiteVersion", white), ("BlackVersion", black))
    more += [(tag, label) for tag, seat in versions if (label := record.seats[seat].version)]
    return [
        *(("Event", event or "?"), ("Site", f"Plyhouse {record.match}")),
        *(("Date", date_of(record, ".")), ("Round", "-")),
        *(("White", names[white]), ("Black", names[black]), ("Result", result)),
        *sorted([*more, ("TimeControl", _time_control(record.time_control))]),
    ]


def _smart_game(
    kind: str, board: str, nodes: list[str], record: Record, event: str, lead: float | None
) -> str:
    """Return a file of SGF; ``lead`` are the points of black, None if they were not counted."""
    names = names_of(record)
    result = result_of(record, first="B+", second="W+", drawn="0", none="Void")
    if result in ("B+", "W+") and record.outcome is not None:
        won = record.outcome.termination
        how = {"resignation": "R", "flag_fall": "T", "normal": f"{abs(lead):g}" if lead else ""}
        result += how.get(won, "F")
    root = [
        *(f"{kind}FF[4]CA[UTF-8]AP[Plyhouse]", board),
        *(f"PB[{_quoted(names[0])}]", f"PW[{_quoted(names[1])}]", f"DT[{date_of(record, '-')}]"),
        f"RE[{result}]",
        f"GN[{_quoted(record.match)}]",
        *([f"EV[{_quoted(event)}]"] if event else []),
        *(f"C[{_quoted(each)}]" for each in remarks(record)),
    ]
    return f"(;{''.join(root)}\n{wrapped(nodes, '')})\n"


def _quoted(text: str) -> str:
    """Return a text escaped for SGF."""
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")


def _point(text: str, size: int) -> str:
    """Return a GTP point such as ``D4`` in SGF; rows count from above."""
    if text == "pass":
        return ""
    column = COLUMNS.index(text[0].upper())
    return chr(97 + column) + chr(97 + size - int(text[1:]))


def _from_above(square: str) -> str:
    """Return a square whose rows count from above, such as ``d3``, in SGF."""
    return square[0] + chr(96 + int(square[1:]))


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
    scores = [0] * game.seats
    for each, before, state in positions(record, game):
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
