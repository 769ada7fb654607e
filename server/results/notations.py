"""Records in the established formats of games, and as text.

======== ============= ===============================================================
format   game          read by
======== ============= ===============================================================
``pgn``  chess         every chess program (PGN standard of 1994, export format)
``sgf``  go            every go program (SGF FF[4], GM[1], Japanese result notation)
``sgf``  othello       programs for SGF (FF[4], GM[2]; points as in go, a1 is ``aa``)
``pdn``  checkers      draughts programs (GameType 21; Black begins; 1-0 is White's win)
``mat``  backgammon    GNU Backgammon, XG and others (Jellyfish match files)
``pbn``  bridge        programs for bridge (PBN 2.1, export format)
``gcg``  scrabble      Quackle, Macondo and others (poslfit's GCG)
``phh``  texas_holdem  PokerKit and others (PHH, a file of several hands)
``txt``  every game    people: a line for each turn
======== ============= ===============================================================

If a match did not end by the rules of its game, for instance because a flag fell, its file has the
moves made and the result that counts. A comment says how it ended.
"""

from __future__ import annotations

import pkgutil
from typing import Final

from msgspec.structs import replace

from plyhouse.games.base import Game
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.games.renaming import Renamed
from plyhouse.server.results.notation_parts import date_of, names_of, plain, remarks
from plyhouse.server.results.record import Record, stored_record
from plyhouse.storage.rows import StoredMatch


def notation(record: Record, form: str, event: str = "") -> str | None:
    """Return a record in one of `NOTATIONS`, or as `TEXT`; None if the form is for another game.

    Raises `GameError` if the record does not fit its game (any more).
    """
    if form == TEXT:
        return _txt(record, get_game(record.game), event)
    writer = NOTATIONS[form].get(record.game.partition("(")[0])
    if writer is None:
        return None
    write = pkgutil.resolve_name(f"plyhouse.server.results.{writer}")
    text: str | None = write(*_usual(record, get_game(record.game)), event)
    return text


def _usual(record: Record, game: Game) -> tuple[Record, Game]:
    """Return a record under the usual names of its game, which other programs read."""
    if not isinstance(game, Renamed):
        return record, game
    events = [
        replace(each, text=game.other(each.text)) if each.kind in ("action", "chance") else each
        for each in record.events
    ]
    return replace(record, game=game.original.spec, events=events), game.original


def notation_text(stored: StoredMatch, form: str) -> str:
    """Return a stored match in a form that its game has; for a helper process."""
    text = notation(stored_record(stored, get_game(stored.header.game)), form)
    if text is None:
        raise ValueError(f"{stored.header.game} is not written as {form}")
    return text


def _txt(record: Record, game: Game, event: str) -> str:
    lines = [
        f"{plain(game.info.title)} ({record.game}), match {record.match}, {date_of(record, '-')}",
        *([f"Competition: {plain(event)}"] if event else []),
        *(
            f"{game.seat_name(seat).capitalize()}: {plain(name)}"
            for seat, name in enumerate(names_of(record))
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
        lines += ["", f"Result: {returns or 'none'}", *remarks(record)]
    return "\n".join(lines) + "\n"


TEXT: Final = "txt"
"""The form that every game has."""

NOTATIONS: Final = {
    "pgn": {"chess": "board_notations:pgn"},
    "sgf": {"go": "board_notations:sgf", "othello": "board_notations:othello_sgf"},
    "pdn": {"checkers": "board_notations:pdn"},
    "mat": {"backgammon": "board_notations:mat"},
    "pbn": {"bridge": "card_notations:pbn"},
    "gcg": {"scrabble": "board_notations:gcg"},
    "phh": {"texas_holdem": "card_notations:phh"},
}
"""The games of each format, and the functions that write it, with their modules; they return None
for a match that the format cannot express.  A server starts without these modules, as few matches
are written."""

ONE_MATCH: Final = frozenset(("mat", "gcg", "phh"))
"""Formats whose files hold one match each."""


def form_of(game: str) -> str:
    """Return the established format of a game, by its name or spec; return `TEXT` if there is none.

    >>> form_of("go(size=9)"), form_of("pig")
    ('sgf', 'txt')
    """
    name, _, parameters = game.partition("(")
    if name == "backgammon" and "position" in parameters:
        return TEXT
    return next((form for form, games in NOTATIONS.items() if name in games), TEXT)
