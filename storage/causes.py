"""Causes: why matches end or are void, as codes, seats and numbers, and their sentences.

A stored cause names nobody.  `Cause.sentence` puts in the names that a reader may see, when the
reader sees the sentence.  A text that people wrote is a cause, too (`written`).

>>> from plyhouse.protocol.api.bots import Holder
>>> alice, bob = Holder("alice", "deep"), Holder("bob", "")
>>> Cause("flag_draw", (0, 1), (41,)).sentence([alice, bob])
'seat 1 (alice/deep) ran out of time at ply 41, but seat 2 (bob) cannot win.'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, Protocol

import msgspec
from msgspec import Struct

_SENTENCES: Final = {
    "": "",
    "resigned": "{seats[0]} resigned at ply {numbers[0]}.",
    "failed": "{seats[0]} failed at ply {numbers[0]}.",
    "no_answer": "{seats[0]} named no legal action at ply {numbers[0]}.",
    "illegal": "{seats[0]} played an illegal action at ply {numbers[0]}.",
    "flag": "{seats[0]} ran out of time at ply {numbers[0]}.",
    "flag_draw": "{seats[0]} ran out of time at ply {numbers[0]}, but {seats[1]} cannot win.",
    "away": "{seats[0]} was away for more than {numbers[0]:g} s.",
    "late": "{all_seats} {was} not ready within {numbers[0]:g} s.",
    "excluded": "{seats[0]} was excluded by the organiser.",
    "draw": "A draw was agreed.",
    "nobody_back": "Nobody came back within {numbers[0]:g} s of the server's restart.",
    "too_long": "The match did not end within {numbers[0]} actions.",
    "too_many_plies": "The server made this match void after {numbers[0]} plies, because its "
    "memory is for others, too.",
    "rules_failed": "The rules of {words[0]} failed ({words[1]}).",
    "server_failed": "The server failed.",
    "not_resumed": "The match could not be resumed after the server had stopped.",
    "voided": "The organiser made this match void.",
    "machine_busy": "The flag of {names[0]} fell at ply {numbers[0]}, but its machine {words[0]} "
    "was not the bot's for {numbers[1]} of the {numbers[2]} ms that it had (in the match, "
    "{numbers[3]} of {numbers[4]} ms). The match is played again; from now on flags of this "
    "version count here.",
    "machine_busy_last": "The flag of {names[0]} fell at ply {numbers[0]}, but its machine "
    "{words[0]} was not the bot's for {numbers[1]} of the {numbers[2]} ms that it had (in the "
    "match, {numbers[3]} of {numbers[4]} ms). It was the last of {numbers[5]} tries, so it is not "
    "played again: see to that machine, or give bots more time.",
}
"""The sentence of each code.

``seats`` are the seats of the cause with their holders, ``names`` the holders alone, ``numbers``
and ``words`` those of the cause; plies count from 1.
"""
WRITTEN: Final = "written"
"""The code of a text that people wrote: its words, with the holders of its seats between them."""


class Named(Protocol):
    """The holder of a seat, as a reader may know it."""

    @property
    def player(self) -> str:
        """The account."""

    @property
    def bot(self) -> str:
        """The name of the bot; empty, or the account's, for a person."""


class Cause(Struct, frozen=True, omit_defaults=True, gc=False):
    """Why a match ended or is void."""

    code: str = ""
    seats: tuple[int, ...] = ()
    numbers: tuple[int | float, ...] = ()
    words: tuple[str, ...] = ()

    def sentence(self, holders: Sequence[Named] = ()) -> str:
        """Return the sentence; ``holders`` are those of all seats, as the reader may know them.

        Without holders it names seats only.  It is empty for a code of a newer version.
        """
        names = [_name(holders, seat) for seat in self.seats]
        if self.code == WRITTEN:
            return "".join(map("".join, zip_longest(self.words, names, fillvalue="")))
        labels = [seat_label(holders, seat) for seat in self.seats]
        return _SENTENCES.get(self.code, "").format(
            seats=labels,
            all_seats=" and ".join(labels),
            was="was" if len(labels) == 1 else "were",
            names=names,
            numbers=self.numbers,
            words=self.words,
        )

    def encoded(self) -> str:
        """Return the cause as it is stored; empty for `NO_CAUSE`."""
        return msgspec.json.encode(self).decode() if self.code else ""


NO_CAUSE: Final = Cause()
"""Nothing to say: the game came to its end."""
_decode = msgspec.json.Decoder(Cause).decode


def decoded(text: str) -> Cause:
    """Return a cause from its stored form; raises ValueError if that is damaged."""
    return _decode(text) if text else NO_CAUSE


def written(text: str, holders: Sequence[Named] = ()) -> Cause:
    """Return a text of people as a cause, in which the bots on the seats are seats.

    >>> from plyhouse.protocol.api.bots import Holder
    >>> cause = written("Deep/BLUE had {help}", [Holder("deep", "blue")])
    >>> cause.sentence([Holder("(another entry)", "")])
    '(another entry) had {help}'
    """
    seats = {f"{each.player}/{each.bot}".lower(): seat for seat, each in enumerate(holders)}
    names = "|".join(map(re.escape, sorted(seats, key=len, reverse=True))) or "(?!)"
    parts = re.split(rf"(?<![\w.-])({names})(?![\w-]|\.\w)", text, flags=re.IGNORECASE)
    return Cause(
        WRITTEN, tuple([seats[name.lower()] for name in parts[1::2]]), (), tuple(parts[::2])
    )


def seat_label(holders: Sequence[Named], seat: int) -> str:
    """Return a seat and its holder for people, who count from 1.

    >>> from plyhouse.protocol.api.bots import Holder
    >>> seat_label([Holder("alice", "bot")], 0), seat_label([], 1)
    ('seat 1 (alice/bot)', 'seat 2')
    """
    return (
        f"seat {seat + 1} ({_name(holders, seat)})" if seat < len(holders) else f"seat {seat + 1}"
    )


def _name(holders: Sequence[Named], seat: int) -> str:
    if seat >= len(holders):
        return f"seat {seat + 1}"
    player, bot = holders[seat].player, holders[seat].bot
    return player if bot.lower() in ("", player.lower()) else f"{player}/{bot}"
