"""Scrabble for two to four seats: lay words across and down, and score by letters and squares.

The rules are those of the "WESPA Game Rules" (World English-Language Scrabble Players' Association,
version 2.0), for two to four seats and without clocks and score sheets.  The board has 15 by 15
squares, and there are 100 tiles.  Each seat holds seven of them, and draws as many as it has
played.  The first play covers the centre.  A play lays one tile or more into one row or column
without a gap, beside tiles on the board.  All words of two letters or more that it makes must be in
the word list.

A word scores the values of its letters.  Squares on which the play lays tiles double or treble the
letter, or the word.  A blank counts nothing.  Seven tiles in one play score 50 points more.

A seat may instead exchange tiles if the bag holds seven or more, or pass.  It draws before the old
tiles return to the bag.  The others see only how many it exchanges.  The game ends when a seat has
played its last tile and the bag is empty, or after six turns without points in a row.  The tiles
that a seat has left count against it.  They count for a seat that has played all its own.

With the parameter ``challenges`` a seat may lay any letters.  The next seat answers with ``accept``
or ``challenge`` before the first one draws tiles.  If a word of a challenged play is not in the
list, the first seat takes its tiles back, and its turn ends without points.  Otherwise the play
stands.  A challenge of a play that stands costs nothing with ``single``.  With ``double`` the
challenger loses its next turn, which counts as one without points.  With ``five`` the challenged
seat gets five points.  These are variants of tournaments for two.  Two details are ours: with more
seats only the next one may challenge, and ``five`` counts a play as one word.  Nothing shows before
a challenge whether all words of a play are in the list.

``legal`` lists plays whose words are all in the list, the exchanges and the pass.  A rack with two
blanks has up to 95,754 plays.  So ``legal`` has some of the plays only if ``complete`` is false.
The referee takes every legal play, and there an illegal one may be tried again.  In Python,
``turn.legal`` has all plays.  Plays with other words, where they are allowed, are written in the
same way.

A play is written as its first square and the whole word, with letters that are on the board
already: ``8D WORD`` across in row 8, ``D8 WORD`` down in column D.  Small letters are blanks that
are played, as in ``8D WoRD``.  ``E8=o G8=D`` names only the tiles laid.  Exchanges are ``-ABC``
(``?`` is a blank), and ``-`` is a pass.

Most points win.  Winners share what the others pay, one each; with ``returns=points`` the return is
the lead over the mean of all seats.  All tiles are drawn one at a time at chance nodes.

The word list is ENABLE, in the public domain, of A. Beale and M. Cooper.  A server may offer others
(``dictionary``).  A bot in Python finds the words of a waiting play that are not in the list with
``turn.game.sample_state(turn.observation, turn.rng).wrong_words()``.  Scrabble is a trademark of
others, with whom Plyhouse has no connection.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Scoring,
    Utility,
)
from plyhouse.games.errors import AmbiguousAction, IllegalAction, InvalidParameter
from plyhouse.games.hidden.scrabble.action_lists import LEAST_BAG, PASS, exchanges
from plyhouse.games.hidden.scrabble.legality import (
    blank_spellings,
    broken_rule,
    canonical_play,
    free_play,
    is_legal,
    placed_play,
)
from plyhouse.games.hidden.scrabble.match_rules import CHALLENGES, Rules, rules_of
from plyhouse.games.hidden.scrabble.plays import play_parts, play_score
from plyhouse.games.hidden.scrabble.state import MOST_LEAD, ScrabbleState, first_state
from plyhouse.games.hidden.scrabble.tiles import (
    ALPHABET,
    BLANK,
    COUNTS,
    square_named,
    tile_names,
    tiles_named,
)
from plyhouse.games.hidden.scrabble.views import (
    ScrabbleObservation,
    board_of,
    observed,
    public_text,
    scrabble_scene,
)
from plyhouse.games.hidden.scrabble.words import known_name
from plyhouse.games.scene import Scene

__all__ = ["FewPlays", "Scrabble", "sampled_state", "unseen_tiles"]


def unseen_tiles(seen: ScrabbleObservation) -> list[int]:
    """Return the tiles that are neither on the board nor the observer's, in order."""
    left = list(COUNTS)
    for code in board_of(seen.board):
        if code:
            left[0 if code > BLANK else code] -= 1
    for tile in tiles_named(seen.rack + seen.aside):
        left[tile] -= 1
    return [tile for tile, count in enumerate(left) for _ in range(count)]


def sampled_state(seen: ScrabbleObservation, rules: Rules, rng: random.Random) -> ScrabbleState:
    """Return a state with the unseen tiles dealt at random to the others and the bag."""
    unseen = unseen_tiles(seen)
    shown = tuple([tiles_named(tiles) for tiles in seen.shown])
    for seat, tiles in enumerate(shown):
        for tile in tiles if seat != seen.seat else b"":
            unseen.remove(tile)
    for place in range(len(unseen) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        unseen[place], unseen[other] = unseen[other], unseen[place]
    racks: list[bytes] = []
    for seat, size in enumerate(seen.rack_sizes):
        if seat == seen.seat:
            racks.append(tiles_named(seen.rack))
        else:
            drawn = size - len(shown[seat])
            racks.append(bytes(sorted([*shown[seat], *unseen[:drawn]])))
            del unseen[:drawn]
    aside = tiles_named(seen.aside)
    if len(aside) < seen.aside_size:
        aside = bytes(sorted(unseen[: seen.aside_size]))
        del unseen[: seen.aside_size]
    bag = [0] * len(COUNTS)
    for tile in unseen:
        bag[tile] += 1
    return ScrabbleState(
        seen.to_move,
        rules,
        board_of(seen.board),
        tuple(racks),
        bytes(bag),
        seen.scores,
        seen.scoreless,
        seen.turn,
        aside,
        seen.last,
        bytes([square_named(name) for name in seen.laid]),
        shown,
    )


_MOST_SEATS: Final = 4
_MOST_PLIES: Final = 101 * 6 * 9
"""Each of at most 100 plays follows up to five turns without points.  A turn is an action, perhaps
an answer, and seven tiles that are drawn."""
_FEW: Final = 8


@mypyc_attr(allow_interpreted_subclasses=True)
class Scrabble(Game[ScrabbleState, str, ScrabbleObservation]):
    """Scrabble.

    >>> game = Scrabble()
    >>> state = game.initial_state()
    >>> for tile in "RELICTS" "AEINRT?":
    ...     state = state.after(game.parse_chance(state, tile))
    >>> state = state.after(game.parse(state, "8D relict"))
    >>> game.observe(state, 1).scores, state.to_move == CHANCE
    ((18, 0), True)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="scrabble",
        title="Scrabble",
        summary="Lay crossing words from your tiles, and score by letters and squares.",
        min_seats=2,
        max_seats=_MOST_SEATS,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-MOST_LEAD,
        max_return=MOST_LEAD,
        max_plies=_MOST_PLIES,
        parameters=(
            Parameter("seats", 2, "number of seats", 2, _MOST_SEATS),
            Parameter("returns", "wins", "what is returned", choices=("wins", "points")),
            Parameter("dictionary", "enable", "name of the word list"),
            Parameter(
                "challenges", "none", "what a challenge of a good play costs", choices=CHALLENGES
            ),
        ),
        scoring=Scoring.WINS,
        most_actions=100_000,
    )
    observation_type: ClassVar[type[Observation]] = ScrabbleObservation
    action_pattern: ClassVar[str] = (
        "accept|challenge|[a-o]([1-9]|1[0-5])=[a-z]( [a-o]([1-9]|1[0-5])=[a-z]){0,6}|"
        "-[a-z?]{0,7}|(([1-9]|1[0-5])[a-o]|[a-o]([1-9]|1[0-5])) [a-z]{2,15}"
    )
    action_notation: str = (
        "a play like 8D WORD or D8 WORD, an exchange like -ABC, - to pass, accept or challenge"
    )
    most_plays: ClassVar[int] = 0
    display_is_public: ClassVar[bool] = True

    def check_parameters(self) -> None:
        """Raise `InvalidParameter` unless the word list is installed."""
        name = self.text_parameter("dictionary")
        if not known_name(name):
            expected = "it must be enable, or a list that is installed here"
            raise InvalidParameter(self.info.name, "dictionary", name, expected)

    @property
    def rules(self) -> Rules:
        """Tables of a match with these parameters."""
        points = self.text_parameter("returns") == "points"
        dictionary = self.text_parameter("dictionary")
        challenges = self.text_parameter("challenges")
        seats = self.int_parameter("seats")
        return rules_of(seats, dictionary, points, self.most_plays, challenges)

    @property
    def return_bounds(self) -> tuple[float, float]:
        """Least and greatest return: those of a loser and of the only winner."""
        if self.text_parameter("returns") == "points":
            return -MOST_LEAD, MOST_LEAD
        return -1.0, float(self.int_parameter("seats") - 1)

    def initial_state(self) -> ScrabbleState:
        """Return the state before the first tile."""
        return first_state(self.rules)

    # Notation

    def parse(self, state: ScrabbleState, text: str) -> str:
        """Return the legal action that ``text`` means.

        Tiles of an exchange may come in any order, and a single tile that makes two words may be
        written by either.  A play may be written by its tiles, as in ``H8=W I8=O``.  Where plays
        may be challenged, one with any words is legal.
        """
        wanted = text.strip()
        if "=" in wanted:
            wanted = placed_play(state.board, wanted) or wanted
        square, _, word = wanted.partition(" ")
        if wanted.startswith(PASS):
            self.check_form(wanted)
            # Blanks come last, as in `tile_names`.
            wanted = PASS + "".join(sorted(wanted[1:].upper().replace("?", "~"))).replace("~", "?")
        elif word:
            wanted = f"{square.upper()} {word}"
            if state.to_move >= 0:
                wanted = free_play(state, wanted)
            wanted = canonical_play(state.board, wanted)
        if state.to_move < 0 or state.rules.most_plays:
            return super().parse(state, wanted)
        if state.rules.phonies and play_parts(wanted):
            # Words are not looked up here, so that time does not tell those of the list apart.
            if not broken_rule(state, wanted):
                return wanted
        else:
            for spelling in (wanted, wanted.lower()):  # ACCEPT is an answer, too
                if is_legal(state, spelling):
                    return spelling
            found = blank_spellings(state, wanted)
            if len(found) == 1:
                return found[0]
            if found:
                raise AmbiguousAction(text, self.describe(state), found)
            self.check_form(wanted)
        rule = broken_rule(state, wanted)
        raise IllegalAction(text, self.describe(state), self.listed_actions(state), rule)

    def listed_actions(self, state: ScrabbleState) -> Sequence[str]:
        """Return all plays or some of them, the exchanges and the pass."""
        return state.listed()[0]

    def lists_all(self, state: ScrabbleState) -> bool:
        """Return whether `listed_actions` has all plays."""
        return state.listed()[1]

    def some_action(self, state: ScrabbleState) -> str:
        """Return the pass, or the answer to a play."""
        return state.answer() if state.laid else PASS

    def random_action(
        self, state: ScrabbleState, rng: random.Random, stop: Callable[[], bool] | None = None
    ) -> str:
        """Draw a legal action, among those found when ``stop`` is true."""
        if stop is None or state.laid or state.rules.most_plays:
            return str(rng.choice(state.actions()))
        texts = state.plays(False, stop).texts
        if state.bag_size() >= LEAST_BAG:
            texts = texts + exchanges(state.racks[state.turn])
        return rng.choice([*texts, PASS])

    def broken_rule(self, state: ScrabbleState, text: str) -> str:
        """Return the rule that an illegal action breaks."""
        return broken_rule(state, text)

    def likely(self, state: ScrabbleState, text: str, actions: tuple[Any, ...]) -> Sequence[str]:
        """Return the action that a text is, if it is legal."""
        return (text,) if text in actions else ()

    def format_chance(self, state: ScrabbleState, outcome: int) -> str:
        """Return the tile that is drawn: its letter, or ``?`` for a blank."""
        return ALPHABET[outcome]

    def display(self, state: ScrabbleState, action: Any) -> str:
        """Return a play with its points: ``8D RELICT +18``; a pass or an exchange in words."""
        if state.to_move == CHANCE:
            return self.format_chance(state, action)
        text = self.format(state, action)
        if text == PASS:
            return "pass"
        parts = play_parts(text)
        return f"{text} +{play_score(state.board, *parts)}" if parts else self.display_part(text)

    def display_part(self, seen: str) -> str:
        """Return an exchange in words: by its tiles, or for others by their number."""
        return f"exchanged {seen[1:]}" if seen.startswith(PASS) else seen

    # Views

    def observe(self, state: ScrabbleState, seat: int | None) -> ScrabbleObservation:
        """Return the seat's own rack, the board, scores, and numbers of tiles elsewhere."""
        complete = seat is None or state.to_move != seat or self.lists_all(state)
        return observed(state, seat, self.legal_text(state, seat), complete)

    def information_state(self, state: ScrabbleState, seat: int) -> Hashable:
        """Return own tiles, the board, scores, numbers of tiles, and the last actions.

        Earlier actions count by what they left on the board: the rest of the game does not depend
        on them.
        """
        seen = observed(state, seat, ())
        return (
            seat,
            seen.to_move,
            seen.turn,
            seen.board,
            seen.rack,
            seen.rack_sizes,
            seen.bag,
            seen.aside,
            seen.aside_size,
            seen.scores,
            seen.scoreless,
            seen.last,
            seen.laid,
            seen.shown,
        )

    def visible(self, state: ScrabbleState, action: Any, viewer: int | None) -> str | None:
        """Return plays to all; a drawn tile, and the tiles of an exchange, to their seat only."""
        if state.to_move == CHANCE:
            return self.format_chance(state, action) if viewer == state.turn else None
        text = self.format(state, action)
        return text if viewer == state.to_move else public_text(text)

    def sample_state(self, observation: ScrabbleObservation, rng: random.Random) -> ScrabbleState:
        """Return a state with the unseen tiles dealt at random to the others and the bag."""
        return sampled_state(observation, self.rules, rng)

    def scene(self, observation: ScrabbleObservation) -> Scene:
        """Return the board, the rack, scores, and the actions."""
        return scrabble_scene(observation, self.seat_name, self.rules.challenges)

    def describe(self, state: ScrabbleState) -> str:
        """Return the board, all racks, also hidden ones, the bag, and scores."""
        seen = observed(state, None, ())
        racks = [tile_names(rack) or "-" for rack in state.racks]
        bag = "".join([ALPHABET[tile] * count for tile, count in enumerate(state.bag)]) or "-"
        return (
            f"board: {'/'.join(seen.board)}, racks: {' / '.join(racks)}, bag: {bag}, "
            f"aside: {tile_names(state.aside) or '-'}, scores: {state.scores}, "
            f"without points: {state.scoreless}, last: {state.last}, turn: {state.turn}, "
            f"laid: {seen.laid}, shown: {seen.shown}"
        )

    def abstraction(self) -> Game:
        """Return the same game with the few plays of most points, for searches."""
        return FewPlays(**self.parameters)


@mypyc_attr(allow_interpreted_subclasses=True)
class FewPlays(Scrabble):
    """Scrabble with the eight plays of most points; without a play, a full exchange or a pass.

    Searches look for actions in this game (`Game.abstraction`), as nobody can try a thousand plays.
    """

    most_plays: ClassVar[int] = _FEW
    exploration_scale: ClassVar[float] = 0.5
