"""Plots as plain shapes, which the templates ``plots.html`` and ``plot.svg`` write as SVG.  Pure.

Every plot has a table with the same numbers.  Shapes have classes and presentation attributes only,
because the content security policy of pages forbids inline styles; ``plots.css`` has the colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from plyhouse.protocol.api.bots import BotRating

WIDTH: Final = 400.0
"""Width of every plot, in its own units: about that of a phone, where text stays legible."""
NAMES: Final = 130.0
"""Width of the names beside rows."""
SHORT: Final = 18
"""Characters of a name that fit beside a row."""
LINE: Final = 20.0
"""Height of a row with a name."""
WIDEST: Final = 400.0
"""Elo beyond the ratings that a plot shows at most, if intervals are wider."""
MOST_RESULTS: Final = 24
"""Rows of a plot of results."""
SEATS: Final = 6
"""Number of the colours of seats."""

Place = tuple[float, float]
Cell = str | int
"""Text, or a time in milliseconds since 1970."""


class Shape(NamedTuple):
    """An element of SVG."""

    tag: str
    look: str
    """Its class."""
    attributes: tuple[tuple[str, str], ...]
    text: str = ""
    about: str = ""
    """Words that a browser shows at the pointer."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, and the table with its numbers."""

    name: str
    """Its name in addresses."""
    title: str
    says: str
    """The drawing in words, for screen readers."""
    height: float
    shapes: tuple[Shape, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    width: float = WIDTH


class Interval(NamedTuple):
    """A rating with its interval, and the wider one that holds at any time."""

    name: str
    at: float
    low: float
    high: float
    far_low: float | None = None
    far_high: float | None = None


class Score(NamedTuple):
    """The mean score against an opponent."""

    name: str
    score: float
    low: float | None
    high: float | None
    """The bounds of its 95 % interval; None if unknown."""
    matches: int
    needed: float | None = None
    """The score that a grade needs."""
    grade: str = ""


class Bar(NamedTuple):
    """An interval in a cell of a table: positions from 0 to 100."""

    wide_at: float
    wide: float
    near_at: float
    near: float
    at: float


class HeatCell(NamedTuple):
    """The mean score of a row against a column."""

    score: float
    matches: int


class PlyTime(NamedTuple):
    """The time of a ply on the clock."""

    ply: int
    seat: int
    action: str
    ms: float


@dataclass(frozen=True, slots=True)
class _Panel:
    """A rectangle in which values are places."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    """Values at the left and the right edge."""
    y: tuple[float, float] = (0.0, 1.0)
    """Values at the lower and the upper edge."""

    def across(self, value: float) -> float:
        return self.left + self.width * _part(value, self.x)

    def up(self, value: float) -> float:
        return self.top + self.height * (1.0 - _part(value, self.y))

    def rules(self) -> list[Shape]:
        """Horizontal lines with the values beside them."""
        shapes = []
        for value in ticks(*self.y):
            y = self.up(value)
            shapes.append(_line("grid", self.left, y, self.left + self.width, y))
            shapes.append(_text("soft", self.left - 4, y + 4, f"{value:g}", "end"))
        return shapes


def _part(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return min(max((value - low) / max(high - low, 1e-9), 0.0), 1.0)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round values between two bounds, at most ``most`` and one more.

    >>> ticks(0, 97), ticks(1130, 1480)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [1200.0, 1300.0, 1400.0])
    """
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * each, 10) + 0.0 for each in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def _shape(tag: str, look: str, text: str = "", about: str = "", **values: float | str) -> Shape:
    return Shape(
        tag,
        " ".join(f"plot-{each}" for each in look.split()),
        tuple(
            (name.replace("_", "-"), value if isinstance(value, str) else _number(value))
            for name, value in values.items()
        ),
        text,
        about,
    )


def _line(look: str, x1: float, y1: float, x2: float, y2: float, about: str = "") -> Shape:
    return _shape("line", look, "", about, x1=x1, y1=y1, x2=x2, y2=y2)


def _text(look: str, x: float, y: float, text: str, anchor: str = "start") -> Shape:
    return _shape("text", look, text, x=x, y=y, text_anchor=anchor)


def _time(x: float, y: float, ms: int, anchor: str) -> Shape:
    """A time, which a script of the page shows as local time."""
    when = datetime.fromtimestamp(ms / 1000, UTC)
    text = f"{when:%Y-%m-%d %H:%M} UTC"
    moment = f"{when:%Y-%m-%dT%H:%M:%SZ}"
    return _shape("text", "soft", text, x=x, y=y, text_anchor=anchor, data_moment=moment)


def _path(places: Iterable[Place]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in places)


def _short(name: str) -> str:
    return name if len(name) <= SHORT else f"{name[: SHORT - 1]}\N{HORIZONTAL ELLIPSIS}"


def _scale(at: Sequence[float], lows: Iterable[float], highs: Iterable[float]) -> Place:
    """Return bounds that hold all values; intervals of few matches end outside."""
    least, most = min(at), max(at)
    room = max(WIDEST, most - least)
    return max(min(lows), least - room), min(max(highs), most + room)


def bars(found: Sequence[Interval | None]) -> list[Bar | None]:
    """Return the bars of a table's rows on one scale; None where there is no interval."""
    known = [each for each in found if each is not None]
    if not known:
        return [None for _ in found]
    scale = _scale([each.at for each in known], *_outer(known))
    made: list[Bar | None] = []
    for each in found:
        if each is None:
            made.append(None)
            continue
        ((far_low,), (far_high,)) = _outer([each])
        bounds = (far_low, far_high, each.low, each.high, each.at)
        left, right, low, high, at = (100.0 * _part(value, scale) for value in bounds)
        places = (left, right - left, low, high - low, at)
        made.append(Bar(*(round(place, 2) for place in places)))
    return made


def _outer(found: Sequence[Interval]) -> tuple[list[float], list[float]]:
    """Return the lower and the upper bounds of the widest intervals."""
    return (
        [each.low if each.far_low is None else each.far_low for each in found],
        [each.high if each.far_high is None else each.far_high for each in found],
    )


# ------------------------------------------------------------------------------- the plots


def intervals(title: str, found: Sequence[Interval]) -> Plot:
    """Draw ratings with their intervals, a row each."""
    far = any(each.far_low is not None for each in found)
    lows, highs = _outer(found)
    scale = _scale([each.at for each in found], lows, highs) if found else (0.0, 1.0)
    panel = _Panel(NAMES + 8, 8, WIDTH - NAMES - 24, LINE * len(found), scale)
    shapes = []
    for value in ticks(*scale, 4):
        x = panel.across(value)
        shapes.append(_line("grid", x, panel.top, x, panel.top + panel.height))
        shapes.append(_text("soft", x, panel.top + panel.height + 14, f"{value:g}", "middle"))
    for index, (bar, low, high) in enumerate(zip(found, lows, highs, strict=True)):
        y = panel.top + LINE * (index + 0.5)
        about = f"{bar.name}: {bar.at:.0f}, 95 % from {bar.low:.0f} to {bar.high:.0f}"
        shapes.append(_text("text", NAMES, y + 4, _short(bar.name), "end"))
        if far:
            shapes.append(_line("far", panel.across(low), y, panel.across(high), y))
        shapes.append(_line("near", panel.across(bar.low), y, panel.across(bar.high), y, about))
        shapes.append(_shape("circle", "point", cx=panel.across(bar.at), cy=y, r=3.5))
    rows = [
        (
            *(bar.name, f"{bar.at:.0f}", f"{bar.low:.0f} \N{EN DASH} {bar.high:.0f}"),
            *([f"{low:.0f} \N{EN DASH} {high:.0f}"] if far else []),
        )
        for bar, low, high in zip(found, lows, highs, strict=True)
    ]
    says = f"{title}: {len(found)} ratings, each with its 95 % interval as a bar."
    heads = ("bot", "rating", "95 %", *(["at any time"] if far else []))
    return Plot("ratings", title, says, panel.height + 30, tuple(shapes), heads, tuple(rows))


def results(title: str, found: Sequence[Score]) -> Plot | None:
    """Draw mean scores from 0 to 1 with their intervals, and what grades need; None if empty.

    Rows beyond `MOST_RESULTS` are left out.
    """
    shown = found[:MOST_RESULTS]
    if not shown:
        return None
    panel = _Panel(NAMES + 8, 8, WIDTH - NAMES - 24, LINE * len(shown), (0.0, 1.0))
    shapes = []
    for value in ticks(0.0, 1.0, 4):
        x = panel.across(value)
        shapes.append(_line("grid", x, panel.top, x, panel.top + panel.height))
        shapes.append(_text("soft", x, panel.top + panel.height + 14, f"{value:g}", "middle"))
    for index, each in enumerate(shown):
        y = panel.top + LINE * (index + 0.5)
        about = f"{each.name}: {each.score:.3f}"
        if each.low is not None and each.high is not None:
            about += f", 95 % from {each.low:.2f} to {each.high:.2f}"
            shapes.append(_line("near", panel.across(each.low), y, panel.across(each.high), y))
        shapes.append(_text("text", NAMES, y + 4, _short(each.name), "end"))
        if each.needed is not None:
            x, about = panel.across(each.needed), f"{about}; {each.grade} needs {each.needed:g}"
            shapes.append(_line("goal", x, y - LINE / 2 + 2, x, y + LINE / 2 - 2))
        at = panel.across(each.score)
        shapes.append(_shape("circle", "point", "", about, cx=at, cy=y, r=3.5))
    goals = any(each.needed is not None for each in shown)
    says = f"{title}: {len(shown)} mean scores, each with its 95 % interval as a bar"
    says += ", and the score that a grade needs as a mark." if goals else "."
    rows = [
        (
            *(each.name, str(each.matches), f"{each.score:.3f}"),
            "" if each.low is None else f"{each.low:.2f} \N{EN DASH} {each.high:.2f}",
            *(["" if each.needed is None else f"{each.needed:g}"] if goals else []),
        )
        for each in shown
    ]
    heads = ("against", "matches", "score", "95 %", *(["needed"] if goals else []))
    return Plot("results", title, says, panel.height + 30, tuple(shapes), heads, tuple(rows))


def rating_history(game: str, points: Sequence[BotRating]) -> Plot | None:
    """Draw the ratings of a bot in a game over time; None for fewer than two ratings."""
    if len(points) < 2:
        return None
    begun, ended = points[0].taken_ms, max(points[-1].taken_ms, points[0].taken_ms + 1)
    scale = _scale(
        [each.rating for each in points], [each.low for each in points], [p.high for p in points]
    )
    panel = _Panel(40, 10, WIDTH - 52, 130, (begun, ended), scale)
    shapes = panel.rules()
    for version in dict.fromkeys(each.version for each in points):
        own = [each for each in points if each.version == version]
        latest = " latest" if version == points[-1].version else ""
        upper = [(panel.across(each.taken_ms), panel.up(each.high)) for each in own]
        lower = [(panel.across(each.taken_ms), panel.up(each.low)) for each in reversed(own)]
        middle = [(panel.across(each.taken_ms), panel.up(each.rating)) for each in own]
        shapes.append(_shape("polygon", f"band{latest}", points=_path([*upper, *lower])))
        shapes.append(_shape("polyline", f"line{latest}", points=_path(middle)))
        shapes.append(_shape("circle", "point", cx=middle[-1][0], cy=middle[-1][1], r=3))
    below = panel.top + panel.height + 16
    shapes += [
        _time(panel.left, below, begun, "start"),
        _time(panel.left + panel.width, below, points[-1].taken_ms, "end"),
    ]
    last = points[-1]
    says = (
        f"Rating over {len(points)} fits: {last.rating:.0f} at last, "
        f"95 % from {last.low:.0f} to {last.high:.0f}."
    )
    rows = [
        (p.taken_ms, p.version, f"{p.rating:.0f}", f"{p.low:.0f} \N{EN DASH} {p.high:.0f}")
        for p in points
    ]
    heads = ("fitted", "version", "rating", "95 %")
    return Plot(f"rating-{game}", game, says, below + 8, tuple(shapes), heads, tuple(rows))


def head_to_head(
    title: str, names: Sequence[str], cells: Sequence[Sequence[HeatCell | None]]
) -> Plot:
    """Draw the mean scores of rows against columns as a heat map with a legend.

    ``cells`` has a row for each name, with None on the diagonal and for entries that never met.
    """
    size = max(14.0, min(32.0, (WIDTH - NAMES - 16) / max(len(names), 1)))
    width = max(WIDTH, NAMES + 16 + size * len(names))
    left, top = NAMES + 8, 24.0
    shapes, rows = [], []
    for row, (name, line) in enumerate(zip(names, cells, strict=True)):
        y = top + size * row
        shapes.append(_text("text", NAMES, y + size / 2 + 4, f"{_short(name)} {row + 1}", "end"))
        shapes.append(_text("soft", left + size * (row + 0.5), top - 6, str(row + 1), "middle"))
        for column, cell in enumerate(line):
            x = left + size * column
            look = "none" if cell is None else f"heat-{round(10 * cell.score)}"
            about = "" if cell is None else f"{name} against {names[column]}: {cell.score:.2f}"
            shapes.append(
                _shape("rect", look, "", about, x=x, y=y, width=size - 1, height=size - 1)
            )
            if cell is None:
                continue
            if size >= 26:
                middle, base = x + size / 2 - 0.5, y + size / 2 + 3.5
                shapes.append(_text("small", middle, base, f"{cell.score:.2f}", "middle"))
            rows.append((name, names[column], f"{cell.score:.3f}", str(cell.matches)))
    below = top + size * len(names) + 10
    step = (WIDTH - left - 16) / 11
    shapes += [
        _shape("rect", f"heat-{heat}", x=left + step * heat, y=below, width=step, height=10)
        for heat in range(11)
    ]
    for place, anchor, text in (
        (0.0, "start", "0 lost all"),
        (5.5, "middle", "0.5"),
        (11.0, "end", "1 won all"),
    ):
        shapes.append(_text("soft", left + step * place, below + 24, text, anchor))
    says = f"{title}: mean scores of {len(names)} entries against each other, as a heat map."
    heads = ("entry", "against", "mean score", "matches")
    return Plot("heat", title, says, below + 32, tuple(shapes), heads, tuple(rows), width)


def progress(
    title: str, ends_ms: Sequence[int], planned: int, widths: Sequence[tuple[int, float]]
) -> Plot | None:
    """Draw the finished matches of a competition, and how certain its ratings were, over time.

    ``ends_ms`` are the ends of the matches in their order.  ``widths`` are numbers of matches, each
    with half the mean width of the 95 % intervals after them, in Elo.  None for fewer than two.
    """
    if len(ends_ms) < 2:
        return None
    span = (ends_ms[0], max(ends_ms[-1], ends_ms[0] + 1))
    most = max(planned, len(ends_ms))
    upper = _Panel(40, 24, WIDTH - 52, 90, span, (0, most))
    lower = _Panel(40, 150, WIDTH - 52, 90, span, (0, max([each for _, each in widths] or [1])))
    step = max(1, len(ends_ms) // 200)
    counted = [*range(0, len(ends_ms), step), len(ends_ms) - 1]
    line = [(upper.across(ends_ms[at]), upper.up(at + 1)) for at in counted]
    corners = [(line[-1][0], upper.up(0)), (line[0][0], upper.up(0))]
    shapes = [
        _text("text", 4, 14, "matches finished"),
        *upper.rules(),
        _shape("polygon", "area", points=_path([*line, *corners])),
        _shape("polyline", "line latest", points=_path(line)),
        _text("text", 4, 140, "\N{PLUS-MINUS SIGN} Elo, mean of the 95 % intervals"),
        *lower.rules(),
    ]
    narrowed = [(lower.across(ends_ms[count - 1]), lower.up(width)) for count, width in widths]
    shapes.append(_shape("polyline", "line latest", points=_path(narrowed)))
    for (x, y), (count, width) in zip(narrowed, widths, strict=True):
        about = f"after {count} matches: \N{PLUS-MINUS SIGN}{width:.0f} Elo"
        shapes.append(_shape("circle", "point", "", about, cx=x, cy=y, r=3))
    below = lower.top + lower.height + 16
    shapes += [
        _time(lower.left, below, ends_ms[0], "start"),
        _time(lower.left + lower.width, below, ends_ms[-1], "end"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (ends_ms[count - 1], str(count), f"{width:.0f}") for count, width in widths
    ]
    says = f"{title}: {len(ends_ms)} of {most} matches are finished."
    if widths:
        says += f" The mean 95 % interval narrowed to plus or minus {widths[-1][1]:.0f} Elo."
    heads = ("time", "matches", "\N{PLUS-MINUS SIGN} Elo")
    return Plot("progress", title, says, below + 8, tuple(shapes), heads, tuple(rows))


def ply_times(title: str, seats: Sequence[str], plies: Sequence[PlyTime]) -> Plot | None:
    """Draw what each ply cost on the clock, in the colours of the seats; None without plies."""
    if not plies:
        return None
    most = max(each.ms for each in plies) / 1000
    last = max(each.ply for each in plies)
    panel = _Panel(40, 26, WIDTH - 52, 110, (0, last), (0, max(most, 0.1)))
    shapes = panel.rules()
    wide = panel.width / last
    for each in plies:
        y, x = panel.up(each.ms / 1000), panel.across(each.ply - 1)
        about = f"Ply {each.ply}, {_seat(seats, each.seat)}, {each.action}: {each.ms / 1000:.2f} s"
        size = {"width": max(wide * 0.85, 0.4), "height": max(panel.up(0) - y, 0.5)}
        shapes.append(_shape("rect", f"seat-{each.seat % SEATS}", "", about, x=x, y=y, **size))
    x = panel.left
    for seat in sorted({each.seat for each in plies}):
        name = _short(_seat(seats, seat))
        shapes.append(_shape("rect", f"seat-{seat % SEATS}", x=x, y=6, width=10, height=10))
        shapes.append(_text("text", x + 14, 15, name))
        x += 24 + 7.5 * len(name)
    below = panel.top + panel.height + 15
    marks = {round(value) for value in ticks(1, last)} - {0}
    for ply in sorted(marks):
        at = panel.across(ply - 0.5)
        shapes.append(_text("soft", at, below, str(ply), "middle"))
    shapes.append(_text("soft", 4, 15, "s"))
    rows = [
        (str(each.ply), _seat(seats, each.seat), each.action, f"{each.ms / 1000:.2f}")
        for each in plies
    ]
    says = f"{title}: seconds on the clock for {len(plies)} plies, at most {most:.2f}."
    heads = ("ply", "who", "action", "seconds")
    return Plot("time", title, says, below + 10, tuple(shapes), heads, tuple(rows))


def _seat(seats: Sequence[str], seat: int) -> str:
    return seats[seat] if seat < len(seats) else f"seat {seat + 1}"
