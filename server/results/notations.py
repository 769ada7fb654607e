"""Records in the established formats of games, PGN, SGF, PDN and MAT, and as text.

======== ============= ===============================================================
format   game          read by
======== ============= ===============================================================
``pgn``  chess         every chess program (PGN standard of 1994, export format)
``sgf``  go            every go program (SGF FF[4], GM[1], Japanese result notation)
``sgf``  othello       programs for SGF (FF[4], GM[2]; points as in go, a1 is ``aa``)
``pdn``  checkers      draughts programs (GameType 21; Black begins; 1-0 is White's win)
``mat``  backgammon    GNU Backgammon, XG and others (Jellyfish match files)
``txt``  every game    people: a line for each turn
======== ============= ===============================================================

If a match did not end by the rules of its game, for instance because a flag fell, its file has the
moves made and the result that counts. A comment says how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.games.deterministic.chess.notation import san
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.server.results.record import Record, stored_record
from plyhouse.storage.rows import StoredMatch

__all__ = ["NOTATIONS", "TEXT", "form_of", "notation", "notation_text"]

LINE: Final = 80
"""The largest length of a line of moves, in characters."""


def notation(record: Record, form: str, event: str = "") -> str | None:
    """Return a record in one of `NOTATIONS`, or as `TEXT`; None if the form is for another game.

    Raises `GameError` if the record does not fit its game (any more).
    """
    if form == TEXT:
        return _txt(record, get_game(record.game), event)
    write = NOTATIONS[form].get(record.game.partition("(")[0])
    return None if write is None else write(record, get_game(record.game), event)


def notation_text(stored: StoredMatch, form: str) -> str:
    """Return a stored match in a form that its game has; for a helper process."""
    text = notation(stored_record(stored, get_game(stored.header.game)), form)
    if text is None:
        raise ValueError(f"{stored.header.game} is not written as {form}")
    return text


def _pgn(record: Record, game: Game, event: str) -> str:
    result = _result(record, first="1-0", second="0-1", drawn="1/2-1/2")
    tags = _tags(record, event, white=0, black=1, result=result)
    position = Position(game)
    seen: Any = game.observe(position.state, None)
    if record.parameters.get("start", 518) != 518:
        tags.append(("Variant", "Chess960"))
    if record.parameters.get("fen") or record.parameters.get("start", 518) != 518:
        tags += [("SetUp", "1"), ("FEN", seen.fen)]
    moves: list[str] = []
    number = int(seen.fen.split()[5])
    for text in _actions(record):
        state, black = position.state, position.mover == 1
        if not black or not moves:
            moves.append(f"{number}..." if black else f"{number}.")
        moves.append(san(state.position, game.parse(state, text), state.actions()))
        position.apply(position.mover, text)
        number += black
    return _tagged(tags, [*moves, *_comment(record), result])


def _pdn(record: Record, game: Game, event: str) -> str:
    result = _result(record, first="0-1", second="1-0", drawn="1/2-1/2")
    tags = _tags(record, event, white=1, black=0, result=result)
    tags.append(("GameType", "21"))
    fen = record.parameters.get("position")
    turn = 0
    if fen:
        tags += [("SetUp", "1"), ("FEN", str(fen))]
        turn = Position(game).mover
    moves: list[str] = []
    for at, text in enumerate(_actions(record), start=turn):
        if at % 2 == 0:
            moves.append(f"{at // 2 + 1}.")
        elif not moves:
            moves.append(f"{at // 2 + 1}...")
        moves.append(text)
    return _tagged(tags, [*moves, *_comment(record), result])


def _sgf(record: Record, game: Game, event: str) -> str:
    size = game.int_parameter("size")
    komi = f"KM[{record.parameters['komi']:g}]"
    nodes = [f";{'BW'[at % 2]}[{_point(text, size)}]" for at, text in enumerate(_actions(record))]
    return _smart_game("GM[1]", f"SZ[{size}]{komi}", nodes, record, event)


def _othello_sgf(record: Record, _: Game, event: str) -> str:
    nodes = [
        f";{'BW'[each.seat]}[{'' if each.text == 'pass' else _from_above(each.text)}]"
        for each in record.events
        if each.kind == "action"
    ]
    return _smart_game("GM[2]", "SZ[8]", nodes, record, event)


def _from_above(square: str) -> str:
    """Return a square whose rows count from above, such as ``d3``, in SGF."""
    return square[0] + chr(96 + int(square[1:]))


def _smart_game(kind: str, board: str, nodes: list[str], record: Record, event: str) -> str:
    """Return a file of SGF."""
    names = _names(record)
    root = [
        *(f"{kind}FF[4]CA[UTF-8]AP[Plyhouse]", board),
        *(f"PB[{_quoted(names[0])}]", f"PW[{_quoted(names[1])}]", f"DT[{_date(record, '-')}]"),
        f"RE[{_result(record, first='B+', second='W+', drawn='0')}]",
        f"GN[{_quoted(record.match)}]",
        *([f"EV[{_quoted(event)}]"] if event else []),
        *(f"C[{_quoted(each)}]" for each in _remarks(record)),
    ]
    return f"(;{''.join(root)}\n{_wrapped(nodes, '')})\n"


def _point(text: str, size: int) -> str:
    """Return a GTP point such as ``D4`` in SGF; rows count from above."""
    if text == "pass":
        return ""
    column = "ABCDEFGHJKLMNOPQRST".index(text[0].upper())
    return chr(97 + column) + chr(97 + size - int(text[1:]))


def _mat(record: Record, _: Game, event: str) -> str:
    one, other = _names(record)
    lines = [
        f'; [Event "{_plain(event or "?")}"]',
        f'; [EventDate "{_date(record, ".")}"]',
        *(f"; {each}" for each in _remarks(record)),
        *("", " 0 point match", "", " Game 1"),
        f" {_plain(one) + ' : 0':<34}{_plain(other)} : 0",
    ]
    rows: list[list[str]] = []
    dice = ""
    for event_ in record.events:
        if event_.kind == "chance":
            dice = "".join(sorted(event_.text, reverse=True))
        elif event_.kind == "action":
            turn = "" if event_.text == "pass" else event_.text
            cell = f"{dice}: {turn}".rstrip() if turn else f"{dice}: Cannot Move"
            if event_.seat == 0 or not rows or len(rows[-1]) == 2:
                rows.append(["", cell] if event_.seat == 1 else [cell])
            else:
                rows[-1].append(cell)
    for number, row in enumerate(rows, start=1):
        left, right = (*row, "")[:2]
        lines.append(f"{number:>3}) {left:<30}{right}".rstrip())
    returns = record.outcome.returns if record.outcome is not None else ()
    if returns and max(returns) > 0:
        points = round(max(returns))
        text = f"Wins {points} point{'s' if points != 1 else ''}"
        place = 6 if returns[0] > returns[1] else 36
        lines.append(f"{'':<{place}}{text}")
    return "\n".join(lines) + "\n"


def _txt(record: Record, game: Game, event: str) -> str:
    lines = [
        f"{_plain(game.info.title)} ({record.game}), match {record.match}, {_date(record, '-')}",
        *([f"Competition: {_plain(event)}"] if event else []),
        *(
            f"{game.seat_name(seat).capitalize()}: {_plain(name)}"
            for seat, name in enumerate(_names(record))
        ),
        f"Time control: {record.time_control}",
        "",
    ]
    position = Position(game)
    drawn: list[str] = []
    for row in record.events:
        if row.kind not in ("action", "chance"):
            continue
        state = position.state
        action = position.apply(row.seat, row.text)
        if row.kind == "chance":
            drawn.append(f"({row.text})")
            continue
        shown = " ".join([*drawn, game.display(state, action)])
        lines.append(f"{position.ply:>3}. {game.seat_name(row.seat).capitalize()}: {shown}")
        drawn = []
    lines += [f"     {' '.join(drawn)}"] * bool(drawn)
    if record.outcome is not None:
        returns = ", ".join(
            f"{game.seat_name(seat)} {value:+g}"
            for seat, value in enumerate(record.outcome.returns)
        )
        lines += ["", f"Result: {returns or 'none'}", *_remarks(record)]
    return "\n".join(lines) + "\n"


TEXT: Final = "txt"
"""The form that every game has."""

NOTATIONS: Final[dict[str, dict[str, Callable[[Record, Game, str], str]]]] = {
    "pgn": {"chess": _pgn},
    "sgf": {"go": _sgf, "othello": _othello_sgf},
    "pdn": {"checkers": _pdn},
    "mat": {"backgammon": _mat},
}
"""The games of each format, and the functions that write it."""


def form_of(game: str) -> str:
    """Return the established format of a game, by its name or spec; raise `TEXT` if there is none.

    >>> form_of("go(size=9)"), form_of("pig")
    ('sgf', 'txt')
    """
    name = game.partition("(")[0]
    return next((form for form, games in NOTATIONS.items() if name in games), TEXT)


def _actions(record: Record) -> list[str]:
    return [each.text for each in record.events if each.kind == "action"]


def _names(record: Record) -> list[str]:
    return [f"{seat.player}/{seat.bot}" if seat.bot else seat.player for seat in record.seats]


def _result(record: Record, *, first: str, second: str, drawn: str) -> str:
    """Return the result by seats; ``*`` (in SGF ``Void``) without one."""
    returns = record.outcome.returns if record.outcome is not None else ()
    if not returns or record.void_reason is not None:
        return "Void" if first == "B+" else "*"
    ending = {"resignation": "R", "flag_fall": "T", "normal": ""}
    how = ""
    if first == "B+" and record.outcome is not None:
        how = ending.get(record.outcome.termination, "F")
    if returns[0] == returns[1]:
        return drawn
    return (first if returns[0] > returns[1] else second) + how


def _date(record: Record, by: str) -> str:
    if record.started_ms is None:
        return by.join(("????", "??", "??"))
    return datetime.fromtimestamp(record.started_ms / 1000, UTC).strftime(f"%Y{by}%m{by}%d")


def _tags(
    record: Record, event: str, *, white: int, black: int, result: str
) -> list[tuple[str, str]]:
    """Return the seven tags of PGN and PDN; ``Site`` has the match id."""
    names = _names(record)
    return [
        *(("Event", event or "?"), ("Site", f"Plyhouse {record.match}")),
        *(("Date", _date(record, ".")), ("Round", "-")),
        *(("White", names[white]), ("Black", names[black]), ("Result", result)),
        ("TimeControl", record.time_control),
    ]


def _tagged(tags: Sequence[tuple[str, str]], moves: Sequence[str]) -> str:
    head = "".join(f'[{name} "{_tag(value)}"]\n' for name, value in tags)
    return f"{head}\n{_wrapped(moves, ' ')}\n"


def _wrapped(parts: Sequence[str], between: str) -> str:
    lines, line = [], ""
    for part in parts:
        if line and len(line) + len(between) + len(part) > LINE:
            lines.append(line)
            line = part
        else:
            line = f"{line}{between}{part}" if line else part
    return "\n".join([*lines, line])


def _remarks(record: Record) -> list[str]:
    """Return how the match ended, if not by the rules of its game."""
    outcome = record.outcome
    if record.void_reason is not None:
        return [f"Void: {record.void_reason}"]
    if outcome is None or outcome.termination == "normal":
        return []
    return [" ".join(f"{outcome.termination.replace('_', ' ')}. {outcome.reason}".split())]


def _comment(record: Record) -> list[str]:
    return [f"{{{each.translate(_NO_BRACES)}}}" for each in _remarks(record)]


_NO_BRACES: Final = str.maketrans("{}", "()")


def _tag(text: str) -> str:
    return _plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    """Return a text escaped for SGF."""
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")


def _plain(text: Any) -> str:
    """Return a text on one line."""
    return " ".join(str(text).split())
