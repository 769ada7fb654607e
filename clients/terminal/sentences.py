"""Sentences for people: how a match ended, names of players for seats, times of clocks.

Pure, and the same words as the web client's (`clients/web/words.js`, `speak.js`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from plyhouse.protocol.messages import Event, Outcome, SeatInfo
from plyhouse.protocol.parts import ending_words
from plyhouse.protocol.text import minus

WON: Final = {
    "resignation": "by resignation",
    "flag_fall": "on time",
    "illegal_action": "by an illegal action",
    "disconnect": "as the other was away",
    "bot_crash": "as the other's bot failed",
    "no_answer": "as the other's model named no legal action",
    "no_show": "as the other did not come",
}
"""What follows "wins"."""
LOST: Final = {
    "resignation": "resigned",
    "flag_fall": "lost on time",
    "illegal_action": "lost by an illegal action",
    "disconnect": "was away too long",
    "bot_crash": "lost as the bot failed",
    "no_answer": "lost as the model named no legal action",
    "no_show": "did not come",
}
"""The result of a game of one seat."""


_DIGITS: Final = {0x2680 + face: str(face + 1) for face in range(6)}
"""Digits for the faces of dice, which are too small to read in a terminal."""


def action_text(event: Event) -> str:
    """Return the action of a seat or of chance as people write it, with dice as digits.

    >>> action_text(Event(0, 0, "g1f3", display="Nf3")), action_text(Event(0, 1))
    ('Nf3', '(hidden)')
    >>> action_text(Event(0, -1, "6-4", display="\u2685\u2683"))
    '6-4'
    """
    text = event.display or event.action
    if text is None:
        return "(hidden)"
    # Games separate dice in different ways, which faces alone do not show.
    if event.action and all(ord(each) in _DIGITS for each in text):
        return event.action
    return text.translate(_DIGITS)


def holder(info: SeatInfo) -> str:
    """The holder of a seat: ``alice/mybot``, or the name alone for a person."""
    return f"{info.player}/{info.bot}" if info.bot else info.player


def score(value: float) -> str:
    """A return as people read it.

    >>> score(1.0), score(-0.5), score(0.0)
    ('+1', '−0.5', '0')
    """
    text = f"{value:+.2f}".rstrip("0").rstrip(".")
    return "0" if float(text) == 0 else minus(text)


def clock_text(milliseconds: float) -> str:
    """Time that is left; below ten seconds with tenths, and never less than nothing.

    >>> clock_text(301_000), clock_text(3_725_000), clock_text(9_449), clock_text(-5)
    ('5:01', '1:02:05', '9.4', '0.0')
    """
    left = max(0.0, milliseconds)
    if left < 10_000:
        return f"{int(left / 100) / 10:.1f}"
    seconds = int(left / 1000)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours:
        return f"{hours}:{minutes:02}:{seconds % 60:02}"
    return f"{minutes}:{seconds % 60:02}"


def with_holders(text: str, holders: Sequence[str], names: Sequence[str]) -> str:
    """Names of players where a scene speaks of seats that have none of their own.

    Seats that are called after what they play (White, South, Pacman) keep it.

    >>> with_holders("seat 1 to move", ["alice", "bob"], ["seat 1", "seat 2"])
    'alice to move'
    >>> with_holders("second to move", ["alice", "bob"], ["first", "second"])
    'bob to move'
    """
    if not holders:
        return text

    def named(found: re.Match[str]) -> str:
        seat = int(found[1]) - 1
        return holders[seat] if 0 <= seat < len(holders) else found[0]

    text = re.sub(r"\bseat (\d+)\b", named, text, flags=re.IGNORECASE)
    for seat, name in enumerate(names[: len(holders)]):
        if name not in ("first", "second", "third"):
            continue
        pattern = (
            rf"(^|\b(?:of|by|and) |, ){name}"
            r"(?=$|[,:.]| (?:to|wins|rolls|places|gets|get|plays|and|has))"
        )
        text = re.sub(pattern, lambda found, who=holders[seat]: found[1] + who, text)  # type: ignore[misc]
    return for_you(text) if "you" in holders else text


def for_you(text: str) -> str:
    """A sentence about somebody called "you", as one says it to them.

    >>> for_you("you chooses"), for_you("Store of you: 3"), for_you("you wins, bob loses.")
    ('You choose', 'Store of you: 3', 'You win, bob loses.')
    """

    def verb(found: re.Match[str]) -> str:
        word = found[2]
        known = {"is": "are", "has": "have", "was": "were"}.get(word)
        return f"{found[1]} {known or re.sub(r'(?<=ss|sh|ch)es$|s$', '', word)}"

    text = re.sub(r"\b(you) (is|has|was|[a-z]{2,}[^s\W]s)\b", verb, text)
    return f"You{text[3:]}" if text.startswith("you ") else text


def verdict(outcome: Outcome, names: Sequence[str]) -> str:
    """The result in a sentence; ``names`` are those of who held the seats.

    >>> verdict(Outcome("normal", [1.0, -1.0]), ["you", "bob"])
    'You win.'

    >>> verdict(Outcome("resignation", [1.0, -1.0], 1), ["alice", "bob"])
    'alice wins by resignation.'

    >>> verdict(Outcome("no_answer", [1.0, -1.0], 1, "bob named no legal action."), ["al", "bob"])
    'al wins. Bob named no legal action.'
    """
    reason = f"{outcome.reason[:1].upper()}{outcome.reason[1:]}"
    if outcome.termination in ("aborted", "server_fault"):
        return f"No result: {reason or ending_words(outcome.termination)}"
    if outcome.termination == "draw_agreed":
        return "Draw by agreement."
    told = f" {reason}" if reason else ""
    # The reason of this end says all of it.
    why = "" if reason and outcome.termination == "no_answer" else outcome.termination
    returns = outcome.returns

    def name(seat: int) -> str:
        return names[seat] if seat < len(names) else f"seat {seat + 1}"

    if len(returns) == 1:
        return f"{name(0)} {LOST.get(why, 'is done')}: {score(returns[0])}.{told}"
    best = max(returns, default=0.0)
    winners = [name(seat) for seat, value in enumerate(returns) if value == best]
    if len(winners) == len(returns):
        return ("Draw." if best == 0 else f"Nobody is ahead: {score(best)} for each.") + told
    how = WON.get(why, "")
    usual = all(abs(value) == 1 for value in returns)
    by = "" if usual or how else f", {' : '.join(map(score, returns))}"
    verb = "win" if len(winners) > 1 else "wins"
    return for_you(f"{' and '.join(winners)} {verb}{f' {how}' if how else ''}{by}.{told}")
