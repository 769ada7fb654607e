"""Seeks and challenges: how bots find opponents without an organiser."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    Answer,
    Challenge,
    ChallengeClosed,
    Challenged,
    Notice,
    Ok,
    Unseek,
)
from plyhouse.protocol.messages import Seek as SeekMessage
from plyhouse.protocol.parts import help_misfit
from plyhouse.server.config import ServerConfig
from plyhouse.server.lobby.matchmaking import Matchmaker, PoolKey, Seek, SeekError
from plyhouse.server.lobby.ply_quota import PlyQuota
from plyhouse.server.lobby.seek_hints import fair_choice, reasons
from plyhouse.server.lobby.suspension import suspended_text
from plyhouse.server.match.presence import Presence
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import SECOND, InvalidTimeControl, TimeControl
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live_matches import BEGUN_AT_ONCE, LiveMatches
from plyhouse.server.wire.limits import Rate
from plyhouse.storage.names import nearest
from plyhouse.storage.rows import new_id

PAIRING_SECONDS: Final = 0.005
"""How long seeks gather before pairings are made: with hundreds of bots each round costs."""
TELL_SECONDS: float = 2.0
"""How long after a seek, or a change, the server explains why nobody is found."""
CHALLENGES: Final = 10, 0.2
"""Unsuccessful challenges of a player to one bot, or to nobody: at once, and per second then."""

GAME_CODES: Final = {"game/unknown", "game/bad_parameter", "game/unfit"}
"""Codes of game errors that clients get unchanged; all others become ``game/unknown``."""


def read_game(spec: str) -> Game:
    """Return the game of a client's spec.

    Raises `ProtocolError` with the game's own sentence.
    """
    try:
        return get_game(spec)
    except GameError as error:
        code = error.code if error.code in GAME_CODES else "game/unknown"
        raise ProtocolError(code, _sentence(error)) from error


def read_time_control(text: str, config: ServerConfig) -> TimeControl:
    """Return a client's time control.

    Raises `ProtocolError` for an invalid one, or beyond the server's limits.
    """
    try:
        control = TimeControl.parse(text)
    except InvalidTimeControl as error:
        raise ProtocolError("time_control/invalid", _sentence(error)) from error
    limits = (
        ("a move", max(control.free_ns, control.increment_ns), config.max_move_time),
        ("a seat in all", control.initial_ns, config.max_total_time),
    )
    for what, given, limit in limits:
        if given > limit * SECOND:
            raise ProtocolError(
                "time_control/invalid",
                f"{text} is too long for this server: {what} may have {limit:g} s at most.",
            )
    return control


@dataclass(slots=True, eq=False)
class _Challenge:
    id: str
    terms: Terms
    sides: tuple[int, ...]
    """The ids of the bots in the order of seats from the challenger's, which comes first."""
    seat: int | None
    """The seat that the challenger asked for."""
    timer: asyncio.TimerHandle
    accepted: set[int] = field(default_factory=set)
    """The bot ids of the opponents that have accepted."""


class SeekWatcher(Protocol):
    """Follows the seeks, for a cluster whose leader may stop."""

    def __call__(self, bot: int, seek: str, count: int, *, still_open: bool) -> None:
        """Note that ``count`` matches of a bot's seek are left; 0 if it has no limit."""


class Lobby:
    """Open seeks and challenges of connected bots."""

    def __init__(
        self,
        config: ServerConfig,
        live_matches: LiveMatches,
        directory: Directory,
        admit: Callable[[Presence, Presence, Terms], None] | None = None,
        may_be_secret: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """``admit`` raises `ProtocolError` if a bot that accepts a game cannot be challenged.

        Without it no hosted bot can be challenged.  ``may_be_secret`` returns whether hints must
        not contain a bot's name.
        """
        self._config = config
        self._live_matches = live_matches
        self._directory = directory
        self._matchmaker = Matchmaker(
            own_bots_rated=config.allow_own_bots, max_seeks=config.max_seeks_per_bot
        )
        self._seekers: dict[str, int] = {}
        """The id of the bot of each open seek."""
        self._challenges: dict[str, _Challenge] = {}
        self.quota = PlyQuota(config.max_plies_per_day, live_matches.now)
        self._unwanted = Rate(*CHALLENGES, live_matches.now)
        self._admit = admit
        self._may_be_secret = may_be_secret
        self.on_seek: SeekWatcher | None = None
        """Called when matches of a seek begin."""
        self._pairing = False
        self._telling = False
        self._told: dict[str, str] = {}
        """The last explanation sent for each open seek."""
        self._freed: set[str] | None = set()
        """Names of bots that may have room since the last look; None if it may be any."""

    def __len__(self) -> int:
        return len(self._matchmaker)

    def open_seeks(self, most: int | None = None) -> list[Seek]:
        """Return at most ``most`` seeks that anybody may join, the longest waiting first."""
        free = [one for one in self._public_seeks() if not one.help and self._room(one.name) > 0]
        return fair_choice(free, most)

    def _public_seeks(self) -> list[Seek]:
        return [each for each in self._matchmaker.seeks() if not each.invitation]

    # ---------------------------------------------------------------------------- seeks

    def seek(self, bot: Presence, message: SeekMessage, identifier: str = "") -> Ok:
        """Open a seek; its matches begin as soon as there are opponents.

        ``identifier`` is that of a seek which another server has opened and cannot serve any more.
        """
        terms = self._terms(message)
        self._may_play(bot, terms.rated, message.help)
        if bot.guest:
            self._guest_is_free(bot)
        self._needs_room(bot, terms)
        seek = Seek(
            id=identifier or new_id(),
            player=bot.player,
            bot=bot.bot,
            game=terms.game.spec,
            time_control=str(terms.time_control),
            seats=terms.game.seats,
            rated=terms.rated,
            count=message.count,
            mirrored=terms.mirrored,
            invitation=message.invitation,
            help=message.help,
        )
        try:
            self._matchmaker.add(seek)
        except SeekError as error:
            raise ProtocolError(error.code, str(error)) from error
        self._seekers[seek.id] = bot.bot_id
        self.pair_soon(())
        self._tell_soon()
        return Ok(message.id, seek=seek.id)

    def unseek(self, bot: Presence, message: Unseek) -> Ok:
        """Withdraw a seek."""
        if self._seekers.get(message.seek) != bot.bot_id:
            raise ProtocolError("seek/unknown")
        del self._seekers[message.seek]
        if message.seek in self._matchmaker:
            self._matchmaker.withdraw(message.seek)
            self.pair_soon([bot])  # a mirrored seek takes places from other seeks
            self._tell_soon()
        return Ok(message.id)

    def pair_soon(self, freed: Iterable[Presence] | None = None) -> None:
        """Look for pairings after a moment.

        ``freed`` are the bots that may have room since the last look; None stands for any.
        """
        if freed is None or self._freed is None:
            self._freed = None
        else:
            self._freed.update([f"{each.player}/{each.bot}" for each in freed])
        if not self._pairing and len(self._matchmaker):
            self._pairing = True
            asyncio.get_running_loop().call_later(PAIRING_SECONDS, self._pair)

    def _pair(self) -> None:
        self._pairing = False
        if not self._directory.leads:
            return
        freed, self._freed = self._freed, set()
        proposals = self._matchmaker.pair(self._room, freed, BEGUN_AT_ONCE)
        if len(proposals) >= BEGUN_AT_ONCE:
            self._pairing = True
            asyncio.get_running_loop().call_soon(self._pair)
        terms_of: dict[PoolKey, Terms] = {}
        for proposal in proposals:
            pool = proposal.pool
            if pool not in terms_of:
                control = TimeControl.parse(pool.time_control)
                terms_of[pool] = Terms(get_game(pool.game), control, pool.rated, pool.mirrored)
            orders = [[self._seekers[seek.id] for seek in order] for order in proposal.orders]
            self._live_matches.begin(terms_of[pool], orders)
        # Only after the loop: one seek may be in several proposals.
        for seek in {seek.id: seek for each in proposals for seek in each.seeks}.values():
            still_open = seek.id in self._matchmaker
            if self.on_seek is not None:
                count = self._matchmaker.left(seek.id) if still_open else 0
                self.on_seek(self._seekers[seek.id], seek.id, count, still_open=still_open)
            if not still_open:
                seeker = self._seekers.pop(seek.id)
                if seek.mirrored:
                    self.pair_soon([self._directory.presences[seeker]])
        if proposals:
            self._tell_soon()

    def _tell_soon(self) -> None:
        """Tell the open seeks after a while why they find nobody, if it changed."""
        if not self._telling and len(self._matchmaker):
            self._telling = True
            asyncio.get_running_loop().call_later(TELL_SECONDS, self._tell)

    def _tell(self) -> None:
        self._telling = False
        if not self._directory.leads:
            return
        if self._pairing:  # the result of the pairing decides
            self._tell_soon()
            return
        online, own = len(self._directory.online()), self._config.allow_own_bots
        told = reasons(
            self._public_seeks(), lambda name: self._room(name) > 0, online, own_bots_rated=own
        )
        for seek, text in told.items():
            seeker = self._seekers[seek]
            if self._directory.presences[seeker].matches or self._told.get(seek) == text:
                continue  # a bot that plays is not waiting
            self._directory.send(seeker, Notice("notice/seek_waits", text))
        self._told = dict(told)

    def _room(self, name: str) -> int:
        here = self._directory.find(name.removesuffix("/"))
        return self.quota.free(here) // self._matchmaker.at_once(name)

    # ----------------------------------------------------------------------- challenges

    def challenge(self, bot: Presence, message: Challenge) -> Ok:
        """Ask for a match with one opponent, or with the number that the game needs."""
        terms = self._terms(message)
        seats = terms.game.seats
        if seats < 2:
            raise ProtocolError(
                "game/unfit",
                f"{terms.game.spec} is played alone: there is nobody to challenge, seek it.",
            )
        if seats != 2 + len(message.others):
            raise ProtocolError(
                "game/unfit",
                f"{terms.game.spec} has {seats} seats: a challenge names {seats - 1} to play it "
                f"with (opponent and others), and this one names {1 + len(message.others)}.",
            )
        if message.seat is not None and message.seat >= seats:
            raise ProtocolError(
                "protocol/bad_field", f"'challenge': field 'seat' must be from 0 to {seats - 1}."
            )
        self._may_play(bot, terms.rated)
        if bot.guest:
            self._guest_is_free(bot)
        self._needs_room(bot, terms)
        asked: list[Presence] = []
        for name in (message.opponent, *message.others):
            asked.append(self._opponent((bot, *asked), name, terms))
            self._may_play(asked[-1], terms.rated, message.help)
        mine = self._challenges_of(bot)
        if mine >= self._config.max_seeks_per_bot:
            raise ProtocolError("seek/limit", f"{mine} of your challenges wait for an answer.")
        self._not_too_often(bot, asked)
        return Ok(message.id, challenge=self._ask(terms, bot, asked, message.seat))

    def _not_too_often(self, bot: Presence, asked: Iterable[Presence]) -> None:
        for opponent in asked:
            pair = bot.player_id, opponent.bot_id
            if not self._unwanted.take(pair):
                wait = math.ceil(self._unwanted.wait(pair))
                raise ProtocolError(
                    "seek/limit",
                    f"You have challenged {opponent.name} too often: wait {wait} s.",
                )

    def _ask(
        self, terms: Terms, challenger: Presence, asked: Sequence[Presence], seat: int | None
    ) -> str:
        """Open a challenge and ask the opponents; return its id."""
        seconds = self._config.challenge_timeout
        identifier = new_id()
        sides = tuple([each.bot_id for each in (challenger, *asked)])
        if asked[0].hosted:  # the only opponent, which accepts automatically
            self._needs_places(challenger, terms)
            self._unwanted.give_back((challenger.player_id, asked[0].bot_id))
            self._start(identifier, terms, sides, seat)
            return identifier
        timer = asyncio.get_running_loop().call_later(seconds, self._close, identifier, "expired")
        self._challenges[identifier] = _Challenge(identifier, terms, sides, seat, timer)
        for place, opponent in enumerate(asked, start=1):
            self._directory.send(
                opponent.bot_id,
                Challenged(
                    identifier,
                    challenger.name,
                    terms.game.spec,
                    str(terms.time_control),
                    terms.rated,
                    None if seat is None else (seat + place) % terms.game.seats,
                    int(seconds * 1000),
                    [each.name for each in asked if each is not opponent],
                ),
            )
        return identifier

    def _opponent(self, sides: Sequence[Presence], name: str, terms: Terms) -> Presence:
        """Return the opponent of this name for ``sides``, which the challenger leads."""
        opponent = self._directory.find(name)
        if opponent is None:
            may_ask = self._unwanted.take((sides[0].player_id, 0))
            online = self._directory.online() if may_ask else ()
            near = nearest(name, [each for each in online if not self._may_be_secret(each)])
            hint = f" Did you mean {near}?" if near else ""
            raise ProtocolError("challenge/offline", f"{name} is not connected.{hint}")
        if opponent.bot_id == sides[0].bot_id:
            raise ProtocolError("challenge/self", "A bot cannot challenge itself.")
        if any(opponent.bot_id == each.bot_id for each in sides):
            raise ProtocolError(
                "challenge/self", f"{name} is named twice: nobody has two seats of a match."
            )
        own = any(opponent.player_id == each.player_id for each in sides)
        if own and terms.rated and not self._config.allow_own_bots:
            raise ProtocolError(
                "challenge/self", "Bots of one player do not meet in rated matches here."
            )
        if opponent.suspended:
            raise ProtocolError("challenge/not_accepting", f"{name} is suspended.")
        if not opponent.accepts(terms.game.info.name, terms.game.spec):
            listed = ", ".join(sorted(opponent.games)) or "no challenges"
            raise ProtocolError(
                "challenge/not_accepting",
                f"{name} does not accept {terms.game.spec}; it accepts: {listed}.",
            )
        if self._admit is not None:
            self._admit(sides[0], opponent, terms)
        elif opponent.hosted:
            raise ProtocolError("challenge/not_accepting")
        if opponent.hosted and terms.game.seats != 2:
            raise ProtocolError(
                "challenge/not_accepting", f"{name} is hosted, and plays with one at a time."
            )
        return opponent

    def answer(self, bot: Presence, message: Answer) -> Ok:
        """Accept or decline a challenge, or withdraw one's own by declining it."""
        challenge = self._challenges.get(message.challenge)
        if challenge is None or bot.bot_id not in challenge.sides:
            raise ProtocolError("challenge/unknown")
        if bot.bot_id == challenge.sides[0]:
            if message.accept:
                raise ProtocolError("challenge/unknown", "This challenge is for your opponent.")
            self._close(challenge.id, "withdrawn", message.reason)
        elif not message.accept:
            self._close(challenge.id, "declined", message.reason)
        else:
            if bot.guest and bot.matches:
                raise ProtocolError("guest/busy")
            self._needs_room(bot, challenge.terms)
            self._needs_places(bot, challenge.terms)
            ready = challenge.accepted | {bot.bot_id}
            if len(ready) == len(challenge.sides) - 1:
                self._begin(challenge, bot.bot_id)
            challenge.accepted = ready
        return Ok(message.id)

    def _begin(self, challenge: _Challenge, last: int) -> None:
        """Begin, after the last acceptance, if the others can still play."""
        at_once = challenge.terms.at_once
        sides = [self._directory.presences[bot] for bot in challenge.sides]
        for each in sides:
            busy = each.free < at_once or (each.guest and each.matches)
            if busy and each.bot_id != last:
                raise ProtocolError("challenge/offline", f"{each.name} plays too many matches now.")
        self._close(challenge.id, "accepted")
        for each in sides[1:]:
            # Accepted challenges do not count against the limit.
            self._unwanted.give_back((sides[0].player_id, each.bot_id))
        self._start(challenge.id, challenge.terms, challenge.sides, challenge.seat)

    def _start(self, challenge: str, terms: Terms, sides: Sequence[int], seat: int | None) -> None:
        """Begin the match of a challenge, with ``seat`` for the first of ``sides``."""
        first = int(challenge, 36) % len(sides) if seat is None else seat
        order = _rotated(list(sides), first)
        self._live_matches.begin(terms, [_rotated(order, turn) for turn in range(terms.at_once)])

    def _close(self, identifier: str, reason: str, detail: str = "") -> None:
        challenge = self._challenges.pop(identifier, None)
        if challenge is None:
            return
        challenge.timer.cancel()
        message = ChallengeClosed(identifier, reason, detail)  # type: ignore[arg-type]
        for bot in challenge.sides:
            self._directory.send(bot, message)

    # -------------------------------------------------------------------------- both

    def leave(self, bot: Presence) -> None:
        """Withdraw the seeks and challenges of a bot that has left."""
        for seek in self._matchmaker.withdraw_bot(bot.player, bot.bot):
            self._seekers.pop(seek.id, None)
            self._tell_soon()
        for challenge in tuple(self._challenges.values()):
            if bot.bot_id in challenge.sides:
                self._close(challenge.id, "withdrawn", f"{bot.name} has left.")

    def _terms(self, asked: SeekMessage | Challenge) -> Terms:
        if not self._directory.leads:
            raise ProtocolError("server/shutting_down", fatal=False)
        game, control = read_game(asked.game), read_time_control(asked.time_control, self._config)
        named = isinstance(asked, Challenge)
        return Terms(game, control, asked.rated, asked.mirrored, challenge=named)

    def _may_play(self, bot: Presence, rated: bool, demand: str = "") -> None:
        if rated and bot.casual:
            raise ProtocolError("guest/casual", f"{bot.name} plays casual matches only.")
        if misfit := help_misfit(bot.name, bot.version, demand):
            raise ProtocolError("help/required", f"{misfit}.")

    def _guest_is_free(self, bot: Presence) -> None:
        """Raise if a guest already has a match, a seek or a challenge."""
        waits = bot.bot_id in self._seekers.values() or self._challenges_of(bot)
        if waits or bot.matches:
            raise ProtocolError("guest/busy")

    def _challenges_of(self, bot: Presence) -> int:
        """Return the number of open challenges that a bot has made."""
        return sum(each.sides[0] == bot.bot_id for each in self._challenges.values())

    def _needs_room(self, bot: Presence, terms: Terms) -> None:
        if bot.suspended:
            raise ProtocolError("auth/suspended", suspended_text(bot.suspended))
        self.quota.check(bot)
        if bot.max_matches < terms.at_once:
            raise ProtocolError(
                "seek/limit",
                f"A mirrored pairing plays {terms.at_once} matches at once, "
                f"and this bot takes {bot.max_matches}: raise hello.max_matches.",
            )

    def _needs_places(self, bot: Presence, terms: Terms) -> None:
        """Raise if a bot plays too many matches to begin a challenge, or is under review."""
        if bot.under_review:
            raise ProtocolError("seek/limit", "Your last forfeit is being counted: answer again.")
        if bot.free < terms.at_once:
            raise ProtocolError(
                "seek/limit",
                f"This challenge begins {terms.at_once} of your matches, and you play "
                f"{len(bot.matches)} of {bot.max_matches}: end one first, or "
                "raise hello.max_matches.",
            )


def _rotated(sides: list[int], by: int) -> list[int]:
    """Return the sides, each ``by`` seats later."""
    return sides[-by:] + sides[:-by] if by else sides


def _sentence(error: Exception) -> str:
    text = str(error)
    return text if text.endswith((".", "!", "?")) else f"{text}."
