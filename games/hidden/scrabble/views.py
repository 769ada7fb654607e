"""Observations of Scrabble, and the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.hidden.scrabble.action_lists import PASS
from plyhouse.games.hidden.scrabble.lines import free_places
from plyhouse.games.hidden.scrabble.plays import placed_squares, play_parts, play_score
from plyhouse.games.hidden.scrabble.state import ACCEPT, CHALLENGE, FIVE, ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import (
    ALPHABET,
    PREMIUMS,
    RACK,
    SIZE,
    SQUARES,
    VALUES,
    square_name,
    square_named,
    tile_names,
    transposed,
)
from plyhouse.games.scene import (
    Button,
    Cell,
    Counter,
    Element,
    Grid,
    Placing,
    Scene,
    Text,
)

__all__ = [
    "ScrabbleObservation",
    "board_of",
    "observed",
    "public_text",
    "scrabble_scene",
]

_PREMIUM_NAMES: Final = {
    ".": "empty",
    "d": "double letter",
    "t": "triple letter",
    "D": "double word",
    "T": "triple word",
}
_GROUNDS: Final = {".": "", "d": "sky", "t": "azure", "D": "rose", "T": "crimson"}
_SHORT: Final = {".": (), "d": ("DL",), "t": ("TL",), "D": ("DW",), "T": ("TW",)}
_MARKS: Final = {".": "", "d": "'", "t": ":", "D": "-", "T": "="}
"""Premium squares as text: what colours show where there are colours."""
_RISKS: Final = {"double": " (risks a turn)", "five": f" (risks {FIVE} points)"}
"""Costs of a challenge whose play stands, as the button shows them."""


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class ScrabbleObservation(Observation):
    """One seat's view: its rack, the board and scores, and how many tiles there are elsewhere."""

    turn: int
    """Seat whose turn it is: it is to move, draws, or waits for the answer to its play.  After the
    end it is the seat that had the last turn."""
    board: tuple[str, ...]
    """Rows from the top: "." for an empty square, a small letter for a blank."""
    rack: str
    """The observer's tiles, as in "AEINRT?"; "" for spectators."""
    rack_sizes: tuple[int, ...]
    """How many tiles each seat has."""
    bag: int
    """How many tiles the bag holds."""
    aside: str
    """Tiles that the observer exchanges until it has drawn new ones."""
    aside_size: int
    """How many tiles the seat that draws exchanges."""
    scores: tuple[int, ...]
    """Points of each seat."""
    scoreless: int
    """Turns without points in a row; six end the game."""
    last: tuple[str, ...]
    """The last action of each seat, "" before it; of an exchange by others the number of tiles, as
    in "-3"."""
    laid: tuple[str, ...]
    """Squares of the tiles of a play that waits to be accepted or challenged, as in "H8"."""
    shown: tuple[str, ...]
    """Tiles that all know each seat to hold, because a challenge returned them to it."""
    complete: bool = True
    """False if there may be more legal plays than `legal` lists."""


def public_text(text: str) -> str:
    """Return an action as others see it: of an exchange only the number of tiles."""
    if not text.startswith(PASS) or text == PASS or text[1:].isdigit():
        return text
    return f"{PASS}{len(text) - 1}"


def _row(board: bytes, row: int) -> str:
    line = board[SIZE * row : SIZE * row + SIZE]
    return "".join(["." if code == 0 else chr(64 + code) for code in line])


def board_of(rows: tuple[str, ...]) -> bytes:
    """Return what lies on each square, from the rows of an observation."""
    return bytes([0 if letter == "." else ord(letter) - 64 for letter in "".join(rows)])


def observed(
    state: ScrabbleState, seat: int | None, legal: tuple[str, ...], complete: bool = True
) -> ScrabbleObservation:
    """Return what a seat, or a spectator, sees."""
    own_aside = state.aside if seat == state.turn else b""
    return ScrabbleObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        turn=state.turn,
        board=tuple([_row(state.board, row) for row in range(SIZE)]),
        rack="" if seat is None else tile_names(state.racks[seat]),
        rack_sizes=tuple([len(rack) for rack in state.racks]),
        bag=state.bag_size(),
        aside=tile_names(own_aside),
        aside_size=len(state.aside),
        scores=state.scores,
        scoreless=state.scoreless,
        last=tuple(
            [text if by == seat else public_text(text) for by, text in enumerate(state.last)]
        ),
        laid=tuple([square_name(square, down=True) for square in state.laid]),
        shown=tuple([tile_names(tiles) for tiles in state.shown]),
        complete=complete,
    )


def _last_mover(seen: ScrabbleObservation) -> int:
    """Return the seat that had the last turn."""
    if seen.to_move in (CHANCE, TERMINAL) or seen.laid:
        return seen.turn
    return (seen.turn - 1) % len(seen.scores)


def _challenger(seen: ScrabbleObservation) -> int | None:
    """Return the seat that challenged the play of the last turn; None if it was not challenged.

    A seat answers every play of the seat before it, so that its last action is the answer to the
    last one.  After that the other seat draws tiles, or the challenger moves, or has lost its turn.
    """
    if seen.laid:
        return None
    next_seat = (seen.turn + 1) % len(seen.scores)
    for seat in (next_seat,) if seen.to_move < 0 else (seen.turn, seen.turn - 1):
        if seen.last[seat] == CHALLENGE and _squares_of(seen.last[seat - 1]):
            return seat % len(seen.scores)
    return None


def _squares_of(text: str) -> frozenset[int]:
    """Return the squares of the word of a play; none of other actions."""
    parts = play_parts(text)
    if parts is None:
        return frozenset()
    start, word = parts
    line = range(start % SQUARES, start % SQUARES + len(word))
    return frozenset([transposed(square) if start >= SQUARES else square for square in line])


def _tile(letter: str, name: str, label: str, highlight: bool) -> Cell:
    """Return a square with a tile; a small letter is a blank."""
    value = 0 if letter.islower() else VALUES[ALPHABET.index(letter)]
    return Cell(
        text=letter,
        shape="tile",
        label=label,
        highlight=highlight,
        name=name,
        face=letter.upper().replace("?", ""),
        corner=str(value) if value else "",
    )


def _board(seen: ScrabbleObservation, marked: frozenset[int]) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for row in range(SIZE):
        cells: list[Cell] = []
        for column in range(SIZE):
            square = SIZE * row + column
            name = square_name(square, down=True)
            letter = seen.board[row][column]
            if letter == ".":
                kind = PREMIUMS[square]
                label = f"{name}, {_PREMIUM_NAMES[kind]}"
                cells.append(
                    Cell(
                        _MARKS[kind],
                        label=label,
                        name=name,
                        ground=_GROUNDS[kind],
                        lines=_SHORT[kind],
                    )
                )
            else:
                said = f"blank as {letter.upper()}" if letter.islower() else letter
                cells.append(_tile(letter, name, f"{name}, {said}", square in marked))
        rows.append(tuple(cells))
    labels = tuple([str(row + 1) for row in range(SIZE)])
    return Grid(tuple(rows), labels, tuple(ALPHABET[1 : SIZE + 1]), theme="felt")


def _rack(seen: ScrabbleObservation) -> tuple[Cell, ...]:
    return tuple([_tile(tile, "", tile.replace("?", "blank"), False) for tile in seen.rack])


def _placing(seen: ScrabbleObservation, phonies: bool) -> Placing:
    """Return the rack, and which tiles on which squares are which play."""
    board = board_of(seen.board)
    actions: list[str] = []
    placed: list[str] = []
    worth: list[int] = []
    legal = () if seen.laid else seen.legal  # else they answer a play
    for text in legal:
        parts = play_parts(text)
        if parts is not None:
            start, word = parts
            laid = [
                f"{square_name(square, down=True)}={chr(64 + code)}"
                for square, code in placed_squares(board, start, word)
            ]
            points = play_score(board, start, word)
        elif text != PASS:
            laid = [f"={tile}" for tile in text[1:]]
            points = 0
        else:
            continue
        actions.append(text)
        placed.append(" ".join(sorted(laid)))
        if not phonies:  # which plays have points would tell those of the word list
            worth.append(points)
    give = "Exchange" if actions and actions[-1].startswith(PASS) else ""
    free = legal and (phonies or not seen.complete)
    places = free_places(board, len(seen.rack)) if free else []
    spots = [
        " ".join(sorted([square_name(square, down=True) for square in place])) for place in places
    ]
    return Placing(
        "Your tiles",
        _rack(seen),
        tuple(actions),
        tuple(placed),
        tuple(worth),
        seen.seat,
        give,
        tuple(spots),
    )


def scrabble_scene(
    seen: ScrabbleObservation, name: Callable[[int], str], challenges: str = "none"
) -> Scene:
    """Return the board, the rack, scores, and the actions; ``challenges`` is that of `Rules`."""
    last = _last_mover(seen)
    challenger = _challenger(seen)
    marked = seen.last[last if challenger is None else challenger - 1]
    elements: list[Element] = [_board(seen, _squares_of(marked))]
    if seen.seat is not None:
        elements.append(_placing(seen, challenges != "none"))
    for seat, score in enumerate(seen.scores):
        elements.append(Counter(name(seat), score, seat=seat, look="score"))
    if challenger is not None:
        elements.append(Text(_outcome(seen, challenger, name, challenges), challenger))
    elif seen.laid:
        points = _waiting_points(seen)
        elements.append(Text(f"{name(last)}: {seen.last[last]} for {points}", last))
    elif seen.last[last]:
        elements.append(Text(f"{name(last)}: {_said(seen.last[last])}", last))
    if CHALLENGE in seen.legal:
        risk = _RISKS.get(challenges, "")
        elements += [Button("Accept", ACCEPT), Button(f"Challenge{risk}", CHALLENGE)]
    if PASS in seen.legal:
        elements.append(Button("Pass", PASS))
    elements += [
        Button(f"Exchange {text[1:]}", text, aside=True)
        for text in seen.legal
        if text.startswith(PASS) and text != PASS
    ]
    return Scene(tuple(elements), _status(seen, name), seen.seat_to_move)


def _waiting_points(seen: ScrabbleObservation) -> int:
    """Return the points of the play that waits to be accepted or challenged."""
    parts = play_parts(seen.last[seen.turn])
    if parts is None:
        return 0
    board: list[int] = list(board_of(seen.board))
    for square in seen.laid:
        board[square_named(square)] = 0
    return play_score(bytes(board), parts[0], parts[1])


def _outcome(
    seen: ScrabbleObservation, seat: int, name: Callable[[int], str], challenges: str
) -> str:
    """Return what a challenge by a seat has found, and what it costs."""
    text = seen.last[seat - 1]
    board = board_of(seen.board)
    verdict = "is taken back"
    if all(board[square] for square in _squares_of(text)):
        verdict = "stands"
        if challenges == "five":
            verdict = f"stands, {FIVE} points more"
        elif challenges == "double" and seen.to_move != TERMINAL:
            verdict = "stands and costs a turn"
    return f"{name(seat)}: challenge; {text} {verdict}"


def _said(text: str) -> str:
    """Return an action in words."""
    if text == PASS:
        return "passes"
    if text.startswith(PASS):
        return f"exchanges {text[1:]}" if not text[1:].isdigit() else f"exchanges {text[1:]} tiles"
    return text


def _status(seen: ScrabbleObservation, name: Callable[[int], str]) -> str:
    """Return one line on what happens now."""
    if seen.to_move == TERMINAL:
        top = max(seen.scores)
        best = [name(seat) for seat, score in enumerate(seen.scores) if score == top]
        verb = "wins" if len(best) == 1 else "share the win"
        return f"{' and '.join(best)} {verb} with {top} points"
    if seen.to_move == CHANCE:
        return f"{name(seen.turn)} draws tiles"
    if seen.laid:
        return f"{name(seen.to_move)} to accept or challenge {seen.last[seen.turn]}"
    notes = [f"{seen.bag} {'tile' if seen.bag == 1 else 'tiles'} in the bag"]
    notes += [
        f"{name(seat)} has {size}"
        for seat, size in enumerate(seen.rack_sizes)
        if size < RACK and seat != seen.seat
    ]
    if seen.scoreless >= 3:
        notes.append(f"{seen.scoreless} turns without points, six end it")
    return f"{name(seen.to_move)} to move; {'; '.join(notes)}"
