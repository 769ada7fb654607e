"""Values in words for templates; every function is a filter of the same name.

All of them return plain text, which the template escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

from plyhouse.games.base import Information, Utility
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.games.values import unit_of
from plyhouse.protocol.api.matches import Match, Seat
from plyhouse.protocol.api.standings import Standing
from plyhouse.protocol.messages import SeatInfo
from plyhouse.protocol.parts import ending_words
from plyhouse.server.match.terminations import forfeit_returns
from plyhouse.server.match.time_control import SECOND, InvalidTimeControl, TimeControl
from plyhouse.server.results.notations import TEXT, form_of
from plyhouse.server.web.plots import Bar, Interval, bars

FILTERS: Final[dict[str, Callable[..., Any]]] = {}
"""All filters by name."""

FilterT = TypeVar("FilterT", bound=Callable[..., Any])


def _filter(function: FilterT) -> FilterT:
    FILTERS[function.__name__] = function
    return function


class Title(NamedTuple):
    """A game's title, and its parameters in brackets where they are not the defaults."""

    name: str
    parameters: str


@_filter
def segment(text: str) -> str:
    """Quote a text for one segment of a path, or one value of a query."""
    return quote(text, safe="")


@_filter
def title(spec: str) -> Title:
    """Return the title of a game; its spec if it is not installed."""
    try:
        game = get_game(spec)
    except GameError:
        return Title(spec, "")
    name, bracket, parameters = game.spec.partition("(")
    return Title(game.info.title or name, bracket + parameters)


@_filter
def family(spec: str) -> str:
    """Return the name of a game without its parameters."""
    return spec.partition("(")[0]


@_filter
def draw_offers(spec: str) -> bool:
    """Return whether draws may be offered in a game; not if it is not installed."""
    try:
        return get_game(spec).info.draw_offers
    except GameError:
        return False


@_filter
def returns_unit(spec: str) -> str:
    """Return the unit of a game's returns, such as "bb/100"; "" for none, or if not installed."""
    try:
        return get_game(spec).info.returns_unit
    except GameError:
        return ""


@_filter
def value_unit(spec: str) -> str:
    """Return the unit of a game's values: "%" for chances of winning; "" if not installed."""
    try:
        return unit_of(get_game(spec))
    except GameError:
        return ""


@_filter
def hidden_information(spec: str) -> bool:
    """Return whether the seats of a game see different things; not if it is not installed."""
    try:
        return get_game(spec).info.information is Information.IMPERFECT
    except GameError:
        return False


@_filter
def resignation_cost(spec: str) -> str:
    """Return how many points a seat loses that resigns, in words; "" if that is a plain loss.

    >>> resignation_cost("backgammon"), resignation_cost("chess")
    ('3 points', '')
    """
    try:
        game = get_game(spec)
    except GameError:
        return ""
    lost = -forfeit_returns(game, 0)[0]
    return f"{lost:g} points" if game.info.utility is Utility.ZERO_SUM and lost > 1 else ""


@_filter
def holders(row: Match) -> list[str]:
    """Return the names of a match's seats; a person plays under the player's own name."""
    return [holder_name((seat.player, seat.bot)) for seat in row.seats]


@_filter
def holder_name(holder: tuple[str, str]) -> str:
    """Return the name of a bot and its player; a person's is the player's own."""
    player, bot = holder
    return player if not bot or bot.lower() == player.lower() else f"{player}/{bot}"


@_filter
def seat_name(info: SeatInfo) -> str:
    """Return the name of a seat's holder, as it was when the match was made."""
    return holder_name((info.player, info.bot))


@_filter
def page_of(name: str) -> str:
    """Return the address of the page of ``player/bot`` or of a player.

    Empty where a board tells no name: it has words in brackets in its place.
    """
    if not name or name.startswith("("):
        return ""
    player, slash, bot = name.partition("/")
    return f"/bots/{segment(player)}/{segment(bot)}" if slash else f"/players/{segment(player)}"


@_filter
def player_of(name: str) -> str:
    """Return the player of ``player/bot``."""
    return name.partition("/")[0]


@_filter
def duration(ms: float) -> str:
    """Return milliseconds as people read them: 0.4 ms, 35 ms, 1.2 s.

    >>> duration(0.42), duration(35.2), duration(1234.0)
    ('0.4 ms', '35 ms', '1.2 s')
    """
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def _time(ns: int) -> str:
    """Return a time in minutes or seconds, such as ``5 min``, ``90 s`` or ``0.5 s``."""
    seconds = ns / SECOND
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


@_filter
def pace(time_control: str) -> str:
    """Return a time control in words; its text if it cannot be read."""
    try:
        control = TimeControl.parse(time_control)
    except InvalidTimeControl:
        return time_control
    main, free = _time(control.main_ns), _time(control.free_ns)
    if control.kind == "move":
        return f"{free} per move"
    if control.kind == "byoyomi":
        return f"{main} + {control.periods} periods of {free}"
    if control.kind == "bank":
        return f"{free} per move + {main} in all"
    increment = control.increment_ns
    return f"{main} + {_time(increment)} per move" if increment else f"{main} in all"


@_filter
def ending(termination: str) -> str:
    """Return a termination in words; nothing for the usual end."""
    return "" if termination == "normal" else ending_words(termination)


@_filter
def sentence(words: str) -> str:
    """Return words with a capital first letter and a full stop; what has an end keeps it."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "?", "!")) else ".")


@_filter
def signed(value: float) -> str:
    """Return a return with its sign, and none on zero."""
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}") if value else "0"


@_filter
def scores(seats: Sequence[Seat]) -> str:
    """Return what the seats of a match got; a dash if they got nothing."""
    got = [seat.returned for seat in seats if seat.returned is not None]
    return " : ".join(map(signed, got)) or "\N{EN DASH}"


@_filter
def number(value: float | None, form: str) -> str:
    """Return a number in a format like ``.0f``; a dash if there is none."""
    return "\N{EN DASH}" if value is None else _formatted(value, form)


@_filter
def interval(bounds: tuple[float | None, float | None], form: str) -> str:
    """Return an interval, its bounds in a format like ``.0f``; nothing if there is none."""
    low, high = bounds
    if low is None or high is None:
        return ""
    return f"{_formatted(low, form)} … {_formatted(high, form)}"


def _formatted(value: float, form: str) -> str:
    return format(value, form).replace("-", "\N{MINUS SIGN}")


@_filter
def rating_bars(lines: Sequence[Standing]) -> list[Bar | None]:
    """Return the intervals of a leaderboard's lines as bars."""
    return bars([rating_interval(line) for line in lines])


def rating_interval(line: Standing) -> Interval | None:
    """Return the rating of a leaderboard's line with its interval; None before the first fit."""
    if line.rating is None or line.low is None or line.high is None:
        return None
    return Interval(holder_name((line.player, line.bot)), line.rating, line.low, line.high)


@_filter
def count(many: int, noun: str, plural: str = "s") -> str:
    """Return a number and what it counts, with the ending of the plural where it needs one."""
    return f"{many} {noun if many == 1 else noun + plural}"


@_filter
def notation_form(game: str) -> str:
    """Return the format in which matches of a game are written, such as ``pgn``."""
    return form_of(game)


@_filter
def form_name(form: str) -> str:
    """Return a format as people call it.

    >>> form_name("pgn"), form_name("txt")
    ('PGN', 'text')
    """
    return "text" if form == TEXT else form.upper()


@_filter
def moment(wall_ms: int) -> datetime:
    """Return a wall-clock time in milliseconds since 1970 as a date and time (UTC)."""
    return datetime.fromtimestamp(wall_ms / 1000, UTC)
