"""Chess by the FIDE Laws, in standard and Chess960 setups.

Actions are written in UCI: ``e2e4``, ``e7e8q``; castling as the king's move ``e1g1``, or,
where a match begins with king and rooks on other places, as king takes rook ``b1a1``.
SAN (``Nf3``, ``O-O``) is read too, and shown to people.

Draws that need a claim under the Laws are automatic here.  A match is drawn at the third occurrence
of a position with the same rights to castle and to capture en passant (Art. 9.2).  It is drawn
after fifty moves of each side without a capture or a pawn move (Art. 9.3).  A match is drawn at
once when no play can lead to mate with the material left.  Mate comes before all of these.

A flag fall is a draw if the opponent has only the king.  Art. 6.9 makes it a draw wherever the
opponent cannot mate by any series of legal moves; other such positions are lost here.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.deterministic.chess.board import (
    BISHOP,
    CASTLING,
    EMPTY,
    EN_PASSANT,
    EN_PASSANT_AT,
    KING,
    KNIGHT,
    PAWN,
    RIGHTS_AT,
    SIDE_AT,
    SQUARE,
    apply_action,
    insufficient_material,
    is_attacked,
    legal_actions,
)
from plyhouse.games.deterministic.chess.checks import gives_check, in_check
from plyhouse.games.deterministic.chess.drawing import chess_board, taken_pieces
from plyhouse.games.deterministic.chess.network import sums_after, sums_of
from plyhouse.games.deterministic.chess.notation import (
    SQUARES,
    STANDARD,
    board_rows,
    read_fen,
    san,
    start_fen,
    uci,
    unconventional,
    write_epd,
)
from plyhouse.games.deterministic.chess.tuned_evaluation import MOST_CENTIPAWNS, tuned
from plyhouse.games.errors import (
    AmbiguousAction,
    InvalidObservation,
    InvalidParameter,
    InvalidPosition,
)
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Button, Scene

if TYPE_CHECKING:
    import random

__all__ = ["Chess", "ChessObservation", "ChessState"]

STANDARD_START: Final = 518

ENDINGS: Final[tuple[str, ...]] = (
    "",
    "checkmate",
    "stalemate",
    "insufficient material",
    "fifty moves",
    "threefold repetition",
)
_PROMOTED: Final = {"q": "queen", "r": "rook", "b": "bishop", "n": "knight"}
"""New piece of a promoted pawn, by the last letter of its move."""
_MATE: Final = 1
_STALEMATE: Final = 2
_MATERIAL: Final = 3
_FIFTY: Final = 4
_THREEFOLD: Final = 5

_NEAR_FIFTY: Final = 80
"""Plies without a capture or pawn move from which on their number is part of the key."""

_WHITE_WINS: Final[tuple[float, ...]] = (1.0, -1.0)
_BLACK_WINS: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


def _ending(position: bytes, clock: i64, earlier: tuple[bytes, ...], bare: bool) -> int:
    """Index in `ENDINGS`; ``bare`` says that the material has changed.

    The earliest third occurrence is eight plies after the first.
    """
    if len(legal_actions(position, True)) == 0:
        return _MATE if in_check(position) else _STALEMATE
    if bare and insufficient_material(position):
        return _MATERIAL
    if clock >= 100:
        return _FIFTY
    if clock >= 8 and earlier.count(position) >= 2:
        return _THREEFOLD
    return 0


@final
@mypyc_attr(free_list_len=1)
class ChessState(BoardState):
    """A position with the history that the draws by repetition and fifty moves need.

    Actions are numbers, see `plyhouse.games.deterministic.chess.board`.
    """

    __slots__ = (
        "behind",
        "clock",
        "earlier",
        "ending",
        "known_sums",
        "last",
        "legal",
        "number",
        "position",
    )

    position: bytes
    """Board, side to move and rights, see `plyhouse.games.deterministic.chess.board`."""
    clock: i64
    """Plies since the last capture or pawn move."""
    number: i64
    """Number of the move, one for white's and black's ply together."""
    earlier: tuple[bytes, ...]
    """Positions since the last move that cannot be undone, the oldest first; in a state that
    was sampled, only the present one as often as it occurred before."""
    last: i64
    """The action that led here; -1 at the start."""
    ending: int
    """Index in `ENDINGS`."""
    known_sums: Any
    """Sums of the estimate's network, of this position or of the one `behind`; None where they are
    unknown: a search does not estimate all states."""
    behind: bytes
    """The position before, where the known sums are still those of it; otherwise empty."""
    legal: Any
    """Legal actions, once somebody asked for them; None before."""

    def __init__(
        self,
        position: bytes = b"",
        clock: i64 = 0,
        number: i64 = 1,
        earlier: tuple[bytes, ...] = (),
        last: i64 = -1,
        ending: int = 0,
    ) -> None:
        self.to_move = TERMINAL
        if ending == 0 and len(position) == 128:
            self.to_move = position[SIDE_AT]
        self.position = position
        self.clock = clock
        self.number = number
        self.earlier = earlier
        self.last = last
        self.ending = ending
        self.known_sums = None
        self.behind = b""
        self.legal = None

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.position, self.clock, self.number, self.earlier, self.last, self.ending)
        return ChessState, fields

    def actions(self) -> tuple[Any, ...]:
        """Legal actions by the squares they start from, own first rank first, the king's last."""
        if self.to_move < 0:
            return ()
        if self.legal is None:
            self.legal = tuple(legal_actions(self.position, False))
        found: tuple[Any, ...] = self.legal
        return found

    def after(self, action: Any) -> ChessState:
        """Return the state after the action."""
        number: i64 = action
        before = self.position
        position = apply_action(before, number)
        at: i64 = SQUARE[number & 63]
        to: i64 = SQUARE[(number >> 6) & 63]
        kind: i64 = number >> 12
        moved: i64 = before[at]
        taken: i64 = before[to]
        capture = taken != 0 and kind != CASTLING
        clock: i64 = self.clock + 1
        earlier: tuple[bytes, ...] = ()
        if capture or moved & 7 == PAWN:
            clock = 0
        elif _same_rights(before, position):
            earlier = self.earlier + (before,)  # noqa: RUF005 - faster
        # A match may begin with too little material, so the first ply counts as a change of it.
        bare = capture or kind >= KNIGHT or self.last < 0
        ending = _ending(position, clock, earlier, bare)
        move: i64 = self.number + before[SIDE_AT]
        found = ChessState(position, clock, move, earlier, number, ending)
        if kind != CASTLING and kind != EN_PASSANT and self.known_sums is not None:
            found.known_sums = self.sums()
            found.behind = before
        return found

    def sums(self) -> Any:
        """Return the sums of the estimate's network."""
        found = self.known_sums
        if found is not None and len(self.behind) == 0:
            return found
        if found is not None:
            number: i64 = self.last
            at: i64 = SQUARE[number & 63]
            to: i64 = SQUARE[(number >> 6) & 63]
            found = sums_after(found, self.behind, self.position, at, to)
        if found is None:
            found = sums_of(self.position)
        self.known_sums = found
        self.behind = b""
        return found

    def returns(self) -> tuple[float, ...]:
        """+1 for the side that mates, -1 for the other, 0 for a draw."""
        if self.ending == _MATE:
            return _BLACK_WINS if self.position[SIDE_AT] == 0 else _WHITE_WINS
        return _DRAW

    def key(self) -> bytes:
        """Equal for equal positions: board, side to move, rights to castle and en passant, how
        often the position occurred, and, near the end of the fifty moves, the plies counted.

        Which other positions occurred is left out.
        """
        position = self.position
        if self.ending >= _FIFTY:
            return position + b"="
        earlier = self.earlier
        before: int = earlier.count(position) if self.clock >= 4 else 0
        near: int = int(self.clock) if self.clock >= _NEAR_FIFTY else 0
        if before == 0 and near == 0:
            return position
        return position + bytes((before, near))

    def heuristic(self) -> tuple[float, ...]:
        """Return the fitted estimate, see `plyhouse.games.deterministic.chess.tuned_evaluation`."""
        if self.to_move == TERMINAL:
            return self.returns()
        value = tuned(self.position, self.sums())
        return (value, -value)

    def noisy_actions(self) -> tuple[Any, ...]:
        """Return promotions, and captures that do not lose material at first sight.

        A capture of a less valuable piece loses material if another piece defends it.
        """
        return tuple(_noisy(self.position, self.actions()))

    def forced(self) -> bool:
        """Return whether the king is in check: then quiet actions matter as much as noisy ones."""
        return self.to_move >= 0 and in_check(self.position)

    def forces(self, action: Any) -> bool:
        """Return whether the action gives check, without making the position after it."""
        return gives_check(self.position, action)

    def passed(self) -> ChessState | None:
        """Return the state as if the mover had passed, for a search that prunes by it.

        None in check, where a pass is illegal, and where a pass would end the game.  None also for
        a side with king and pawns alone: having to move is often bad for it (zugzwang).
        """
        position = self.position
        if self.to_move < 0 or in_check(position) or not _has_piece(position):
            return None
        board = bytearray(position)
        board[SIDE_AT] = 1 - position[SIDE_AT]
        board[EN_PASSANT_AT] = 0
        after = bytes(board)
        ending = _ending(after, 0, (), False)
        if ending:
            return None
        move = self.number + position[SIDE_AT]
        found = ChessState(after, self.clock + 1, move, (), -1, ending)
        if self.known_sums is not None:
            found.known_sums = self.sums()
        return found

    def quiet_margin(self) -> float:
        """Return what a move that is not noisy is likely to add at most: 120 centipawns.

        A capture of a less valuable, defended piece adds more, but loses the capturing piece next.
        """
        return 120.0 / MOST_CENTIPAWNS

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the same actions: captures of the most valuable piece by the least valuable one
        and promotions first.
        """
        position = self.position
        ranked: list[int] = []
        quiet: list[Any] = []
        for index, action in enumerate(actions):
            number: i64 = action
            kind: i64 = number >> 12
            victim: i64 = position[SQUARE[(number >> 6) & 63]]
            if kind == CASTLING or (kind == 0 and victim == 0):
                quiet.append(action)
            else:
                attacker: i64 = position[SQUARE[number & 63]]
                rank: i64 = 8 * (victim & 7) - (attacker & 7)
                if kind >= KNIGHT:
                    rank += 8 * kind
                elif kind > 0:
                    rank += 8 * PAWN
                place: i64 = index
                ranked.append((100 - rank) * 1024 + place)
        ranked.sort()
        return tuple([actions[rank & 1023] for rank in ranked] + quiet)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        if self.to_move < 0:
            return self.returns()
        position = self.position
        clock: i64 = self.clock
        earlier: list[bytes] = list(self.earlier)
        while True:
            actions = legal_actions(position, False)
            count: int = len(actions)
            if count == 0:
                if not in_check(position):
                    return _DRAW
                return _BLACK_WINS if position[SIDE_AT] == 0 else _WHITE_WINS
            if clock >= 100 or (clock >= 8 and earlier.count(position) >= 2):
                return _DRAW
            number: i64 = actions[int(rng.random() * count)]
            kind: i64 = number >> 12
            moved: i64 = position[SQUARE[number & 63]]
            taken: i64 = position[SQUARE[(number >> 6) & 63]]
            capture = taken != 0 and kind != CASTLING
            before = position
            position = apply_action(before, number)
            clock += 1
            if capture or moved & 7 == PAWN:
                clock = 0
                earlier = []
                if (capture or kind >= KNIGHT) and insufficient_material(position):
                    # Mate or stalemate may be on the board, but neither with so few men
                    # can be mate, and a draw is a draw.
                    return _DRAW
            elif _same_rights(before, position):
                earlier.append(before)
            else:
                earlier = []


def _has_piece(position: bytes) -> bool:
    """Return whether the mover has a piece beside king and pawns."""
    low: i64 = KNIGHT + 8 * position[SIDE_AT]
    at: i64 = 21
    while at < 99:
        piece: i64 = position[at]
        if low <= piece <= low + 3:
            return True
        at += 1
    return False


def _same_rights(before: bytes, position: bytes) -> bool:
    """Return whether no right to castle was lost: what was before may come again."""
    at: i64 = RIGHTS_AT
    while at < RIGHTS_AT + 4:
        if before[at] != position[at]:
            return False
        at += 1
    return True


def _noisy(position: bytes, actions: tuple[Any, ...]) -> list[Any]:
    """Return those of the actions that promote, or capture without losing material."""
    noisy: list[Any] = []
    low: i64 = 9 - 8 * position[SIDE_AT]
    for action in actions:
        number: i64 = action
        kind: i64 = number >> 12
        if kind > 0:
            if kind != CASTLING:
                noisy.append(action)
            continue
        to: i64 = SQUARE[(number >> 6) & 63]
        victim: i64 = position[to] & 7
        if victim == 0:
            continue
        at: i64 = SQUARE[number & 63]
        attacker: i64 = position[at] & 7
        if (
            victim >= attacker
            or (victim == KNIGHT and attacker == BISHOP)
            or not is_attacked(position, to, low, at, 0)
        ):
            noisy.append(action)
    return noisy


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class ChessObservation(Observation):
    """The board and what the rules say of it.

    Earlier positions are in the events of the match, not here, because their number grows.
    """

    fen: str
    """The position in Forsyth-Edwards notation, all six fields; in Chess960 a right to castle
    is the file of its rook where K or Q could mean another rook (X-FEN)."""
    check: bool
    """True if the king of the side to move is in check."""
    last: str
    """The last action, in UCI; "" at the start."""
    ending: str
    """How the game ended: "checkmate", "stalemate", "insufficient material", "fifty moves" or
    "threefold repetition"; "" while it goes on."""
    occurrences: int
    """How often the position has occurred, this time included; the third time is a draw."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Chess(Game[ChessState, int, ChessObservation]):
    """Chess and Chess960.

    >>> chess = Chess()
    >>> state = chess.initial_state()
    >>> for text in ("e4", "g8f6", "Bc4"):  # SAN and UCI are both read
    ...     state = state.after(chess.parse(state, text))
    >>> chess.observe(state, None).fen
    'rnbqkb1r/pppppppp/5n2/8/2B1P3/8/PPPP1PPP/RNBQK1NR b KQkq - 2 2'
    >>> chess.format(state, chess.parse(state, "Nxe4"))
    'f6e4'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="chess",
        title="Chess",
        summary="Check the king so that it cannot escape.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        complete_keys=False,
        min_return=-1.0,
        max_return=1.0,
        # At most 96 pawn moves and 30 captures, each with less than fifty moves after it.
        max_plies=127 * 100,
        parameters=(
            Parameter("fen", "", "position to start from; empty for the usual start"),
            Parameter(
                "start", STANDARD_START, "number of the start in Chess960; 518 is standard", 0, 959
            ),
        ),
        seat_names=("White", "Black"),
        draw_offers=True,
    )
    observation_type: ClassVar[type[Observation]] = ChessObservation
    action_pattern: ClassVar[str] = (
        "[a-h][1-8][a-h][1-8][nbrq]?|[o0]-[o0](-[o0])?[+#]?"
        r"|[kqrbnp]?[a-h]?[1-8]?[x-]?[a-h][1-8]([=/]?[qrbn]|\([qrbn]\))?( ?e\.?p\.?)?[+#]?"
    )
    action_notation = "a move like e2e4, e7e8q or Nf3"

    def check_parameters(self) -> None:
        """Read the position; raises `InvalidPosition` where it is none to play from.

        The first ply may begin in a position that is a draw by rule: programs for chess do not end
        a game in which nobody has claimed the draw.
        """
        fen, start = self.text_parameter("fen"), self.int_parameter("start")
        if fen and start != STANDARD_START:
            raise InvalidParameter(
                self.info.name, "start", start, "it goes without fen, which says how to start"
            )
        # A default start is much the most frequent: do not work it out for every match.
        text = fen or (STANDARD if start == STANDARD_START else start_fen(start))
        position, clock, number = read_fen(text)
        ending = _ending(position, 0, (), False)
        if ending:
            raise InvalidPosition(self.info.name, text, f"the game is over: {ENDINGS[ending]}")
        self.start = ChessState(position, clock, number)
        self.chess960 = start != STANDARD_START or unconventional(position)

    def initial_state(self) -> ChessState:
        """Return the position to start from."""
        return self.start

    def can_win(self, state: ChessState, seat: int) -> bool:
        """Return whether a seat has more than its king."""
        own = [piece & 7 for piece in state.position[:SIDE_AT] if piece >> 3 == seat]
        return any(kind not in (EMPTY, KING) for kind in own)

    def restarted(self, state: ChessState, seat: int) -> Game | None:
        """Return the game that begins in this position: no ply and no occurrence counts."""
        if seat != state.position[SIDE_AT]:
            return None
        try:
            return Chess(fen=f"{write_epd(state.position)} 0 {state.number}")
        except InvalidPosition:
            return None

    # Notation

    def format(self, state: ChessState, action: int) -> str:
        """UCI."""
        return uci(action, self.chess960)

    def likely(self, state: ChessState, text: str, actions: tuple[int, ...]) -> tuple[int, ...]:
        """Return those that leave the square with which ``text`` begins."""
        at = SQUARES.get(text[:2], -1)
        return tuple([action for action in actions if action & 63 == at])

    def parse(self, state: ChessState, text: str) -> Any:
        """Return the legal action that ``text`` means.  It is tried as UCI, then as SAN, then as
        UCI in any case.

        SAN comes before UCI in any case because ``B8c7`` is a bishop's move, not ``b8c7`` in
        capitals.
        """
        if state.to_move < 0:
            return super().parse(state, text)
        actions = state.actions()
        wanted = text.strip()
        for action in self.likely(state, wanted, actions):
            if self.format(state, action) == wanted:
                return action
        wanted = _plain(wanted)
        position = state.position
        meant = [a for a in actions if wanted in _spellings(position, a, actions)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            candidates = [san(position, action, actions) for action in meant]
            raise AmbiguousAction(text, self.describe(state), candidates)
        return super().parse(state, text)

    def display(self, state: ChessState, action: int) -> str:
        """Return an action in SAN, like ``Nf3``."""
        return san(state.position, action, state.actions())

    # Views

    def observe(self, state: ChessState, seat: int | None) -> ChessObservation:
        """Return the position, and how often it has occurred."""
        return ChessObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            fen=_fen(state),
            check=in_check(state.position),
            last="" if state.last < 0 else uci(state.last, self.chess960),
            ending=ENDINGS[state.ending],
            occurrences=1 + state.earlier.count(state.position),
        )

    def sample_state(self, observation: ChessObservation, rng: random.Random) -> ChessState:
        """Return the position that was observed, as often repeated as it has been.

        Not in it: which other positions have occurred.  So a search from here sees the present
        position come again, but not one that occurred before it.
        """
        return self._seen(observation)

    def _seen(self, seen: ChessObservation) -> ChessState:
        position, clock, number = read_fen(seen.fen)
        if not 1 <= seen.occurrences <= 3:
            raise InvalidObservation(
                "chess", f"a position occurs 1 to 3, not {seen.occurrences} times"
            )
        earlier = (position,) * (seen.occurrences - 1)
        last = _read_last(seen.last) if seen.last else -1
        return ChessState(position, clock, number, earlier, last, ENDINGS.index(seen.ending))

    def scene(self, observation: ChessObservation) -> Scene:
        """Return the board, and every legal move from square to square."""
        state = self._seen(observation)
        mated = observation.ending == ENDINGS[_MATE]
        grid = chess_board(state.position, observation.last, mated, self.info.seat_names)
        taken = taken_pieces(self.start.position, state.position, self.info.seat_names)
        buttons: list[Button] = []
        if observation.legal:
            actions = state.actions()
            for action in actions:
                label = san(state.position, action, actions)
                text = uci(action, self.chess960)
                shape = _PROMOTED.get(text[4:], "")
                buttons.append(Button(label, text, (text[:2], text[2:4]), shape=shape))
        if mated:
            winner = 1 - state.position[SIDE_AT]
            status = f"Checkmate: {self.seat_name(winner)} wins"
        elif observation.ending:
            status = f"Draw: {observation.ending}"
        else:
            check = ", in check" if observation.check else ""
            status = f"{self.seat_name(observation.to_move)} to move{check}"
        return Scene((grid, *taken, *buttons), status, observation.seat_to_move)

    def describe(self, state: ChessState) -> str:
        """Return the board from the eighth rank, and the FEN."""
        return "\n".join([*board_rows(state.position), _fen(state)])


def _fen(state: ChessState) -> str:
    return f"{write_epd(state.position)} {state.clock} {state.number}"


_PROMOTION: Final = re.compile(r"(.*[a-h][18])[=/(]?([QRBNqrbn])\)?")
_HYPHEN: Final = re.compile(r"([KQRBNP]?[a-h][1-8])-([a-h][1-8].*)")


def _plain(text: str) -> str:
    """Return SAN as `_spellings` has it: without marks, with a promotion in lower case.

    >>> [_plain(text) for text in ("a8=Q+", "e2-e4", "Ng1-f3!?", "exd6 e.p.", "0-0", "b8(N)")]
    ['a8q', 'e2e4', 'Ng1f3', 'exd6ep', 'O-O', 'b8n']
    """
    text = re.sub(r"[+#!?]", "", text)
    text = re.sub(r"(?<=[36]) ?e\.?p\.?$", "ep", text)
    if re.fullmatch("[Oo0](-[Oo0]){1,2}", text):
        return text.upper().replace("0", "O")
    if (found := _HYPHEN.fullmatch(text)) is not None:
        text = found[1] + found[2]
    if (found := _PROMOTION.fullmatch(text)) is not None:
        text = found[1] + found[2].lower()
    return text


def _spellings(position: bytes, action: int, legal: tuple[int, ...]) -> set[str]:
    """SAN of an action without the marks of check, promotion and praise, with and without
    what tells the piece's own square; and both ways to write castling in UCI.
    """
    written = _plain(san(position, action, legal))
    found = {written, uci(action, True), uci(action, False)}
    if written[0] == "O":
        return found
    at, to = uci(action, True)[:2], uci(action, True)[2:]
    takes = "x" if "x" in written else ""
    if written[0] in "KQRBN":
        for own in ("", at[0], at[1], at):
            found.add(written[0] + own + takes + to)
        return found
    found |= {at + takes + to, f"P{at}{takes}{to}", f"P{written}"}
    if action >> 12 == EN_PASSANT:
        found |= {f"{each}ep" for each in found}
    return found


def _read_last(text: str) -> int:
    """Return an action with this text (castling and en passant look like plain moves)."""
    at = ord(text[0]) - 97 + 8 * (int(text[1]) - 1)
    to = ord(text[2]) - 97 + 8 * (int(text[3]) - 1)
    kind = KNIGHT + "nbrq".index(text[4]) if len(text) == 5 else 0
    return at + 64 * to + 4096 * kind
