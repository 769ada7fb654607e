"""Beside the board: who plays with how much time left, and what was played so far."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from plyhouse.clients.terminal.canvas import width_of
from plyhouse.clients.terminal.colours import BLACK, SHEET, TEXT, Ink, seat_colour
from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.sentences import clock_text, score


def _swatch(seat: int, names: list[str], ink: Ink) -> Text:
    """A seat's colour, on its own background."""
    if not ink.colours:
        return Text("")
    colour = seat_colour(seat, names)
    shown = TEXT if colour == BLACK else colour
    sign = ink.sign("\u25cb", "o") if colour == BLACK else ink.sign("\u25cf", "*")
    return Text(f" {sign} ", Style(color=shown, bgcolor=SHEET))


class SeatsView(Static):
    """The seats: name, what the game calls the seat, clock or result, and who is away."""

    DEFAULT_CSS = "SeatsView { height: auto; }"

    def show(self, course: FollowedMatch, at: int, ink: Ink, now: int) -> None:
        """Draw the clocks; ``now`` is in nanoseconds of the clock that the match uses."""
        width = max(10, self.size.width or 26)
        names = course.names
        lines: list[Text] = []
        for seat, who in enumerate(course.holders):
            to_move = course.mover(at) == seat
            line = Text(ink.sign("\u25b6 ", "> ") if to_move else "  ", "bold")
            line.append_text(_swatch(seat, names, ink))
            right = self._right(course, seat, now)
            you = " (you)" if seat == course.seat and who != "you" else ""
            called = names[seat] if seat < len(names) else ""
            room = width - width_of(line.plain) - len(right) - 2
            name = Text(f" {who}{you}", "bold" if to_move else "")
            name.truncate(max(4, room), overflow="ellipsis")
            line.append_text(name)
            line.append(" " * max(1, width - width_of(line.plain) - len(right)))
            line.append(right, "bold reverse" if course.clocks.running == seat else "bold")
            lines.append(line)
            gone = course.clocks.gone(seat, now)
            if gone is not None:
                lines.append(Text(f"     away, {gone} s left", "bold"))
            elif called and not called.startswith("seat ") and called not in ("first", "second"):
                periods = course.clocks.periods(seat)
                more = f", {periods} periods" if periods is not None else ""
                lines.append(Text(f"     {called}{more}", "dim"))
        shown = Text("\n").join(lines)
        if shown != self._text:  # clocks are looked at ten times a second
            self.update(shown, layout=len(lines) != self._text.plain.count("\n") + 1)
            self._text = shown

    _text = Text()

    @staticmethod
    def _right(course: FollowedMatch, seat: int, now: int) -> str:
        if course.outcome is not None and seat < len(course.outcome.returns):
            return score(course.outcome.returns[seat])
        left = course.clocks.left(seat, now)
        return "" if left is None else clock_text(left)


class PliesView(Static):
    """The actions, the latest at the bottom; the one before the shown position is marked."""

    DEFAULT_CSS = "PliesView { height: 1fr; min-height: 3; }"

    def show(self, course: FollowedMatch, at: int, ink: Ink) -> None:
        """Draw the actions that fit, up to some after position ``at``."""
        height = max(1, self.size.height)
        told = [each for each in course.told if each.at <= max(at, 0)]
        later = [each for each in course.told if each.at > at]
        shown = told[-height:]
        shown += later[: height - len(shown)]
        width = max(10, self.size.width or 26)
        lines = []
        for each in shown:
            here = each.at == at and at > 0
            number = f"{each.at:>3} " if each.seat >= 0 else "    "
            line = Text(number, "dim")
            text = each.text
            time = "" if each.seconds is None else f" {each.seconds:.1f}s"
            room = max(4, width - len(number) - len(time))
            itself = ":" in text or (each.seat < 0 and " " in text)  # such as "ghost 1 east"
            if not itself:  # The action is always shown, and its seat if there is space.
                who = Text(course.name(each.seat))
                who.truncate(max(3, room - width_of(text) - 2), overflow="ellipsis")
                text = f"{who.plain}: {text}"
            body = Text(text, "bold reverse" if here else "")
            body.truncate(room, overflow="ellipsis")
            line.append_text(body)
            line.append(time, "dim")
            lines.append(line)
        self.update(Text("\n").join(lines), layout=False)
