"""What clients send. Import these from `plyhouse.protocol.messages`."""

# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty list or dict

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from plyhouse.protocol.parts import (
    PROTOCOL_VERSION,
    ActionText,
    BotName,
    Digest,
    GameSpec,
    HexNonce,
    Identifier,
    Label,
    Message,
    OwnBotName,
    PlayerName,
    PlyIndex,
    RequestId,
    SeatIndex,
    TimeControlText,
)

__all__ = [
    "AcceptDraw",
    "Act",
    "Answer",
    "Bye",
    "Challenge",
    "DeclineDraw",
    "Hello",
    "OfferDraw",
    "Ready",
    "Register",
    "Resign",
    "Seek",
    "Sync",
    "Unseek",
    "Unwatch",
    "Watch",
]


class Hello(Message, frozen=True):
    """Say who you are; the first request of a connection. Answer: ``welcome``.

    id: number of this request.
    token: secret of the player's account; empty, with neither bot nor games, only to watch.
    bot: name of this bot under its player: 1 to 32 letters of any one script, digits, ``_``, ``-``
        or ``.``, among them a letter or digit; empty, or the player's own name, to play as the
        player in person. Case makes no difference between names.
    games: games in which you accept matches made by organisers and challengers.
    client: name and version of your program, for statistics.
    updates: whether to be sent ``update`` in your own matches when it is not your turn.
    scenes: whether to be sent scenes, ready to draw.
    max_matches: most matches you want to play at once.
    session: key from your last ``welcome``: it replaces the connection to which it was given, if
        the server takes that for open still. Matches are yours again without it, and a key that is
        not known any more does no harm.
    takeover: whether to replace any other open connection of the same bot, whoever has it. Without
        this and the right ``session`` the answer is ``auth/already_connected``; the connection that
        is replaced is closed with ``auth/replaced``.
    version: label of this build of the bot, of printable characters; results are kept apart by it.
    protocol: version of the protocol you speak.
    digest: what the bot's files hold: SHA-256 as 64 hexadecimal digits, which the runner works
        out; empty if unknown. The same ``version`` with another digest is another version.
    signed_in: log in as the person who is signed in at the browser that opened the websocket, which
        the server knows by a cookie; ``token`` and ``bot`` are empty then. For pages of the server
        itself.
    """

    id: RequestId
    token: Annotated[str, Meta(max_length=256)]
    bot: OwnBotName = ""
    games: Annotated[list[GameSpec], Meta(max_length=256)] = []
    client: Label = ""
    updates: bool = False
    scenes: bool = False
    max_matches: Annotated[int, Meta(ge=1, le=65536)] = 16
    session: Label = ""
    takeover: bool = False
    version: Label = ""
    protocol: Label = PROTOCOL_VERSION
    digest: Digest = ""
    signed_in: bool = False


class Register(Message, frozen=True):
    """Make an account, where the organiser left registration open; before ``hello``.
    Answer: ``registered``.

    id: number of this request.
    player: name of the account: 1 to 32 letters of any one script, digits, ``_``, ``-`` or ``.``,
        among them a letter or digit; no two players have names that differ in case alone.
    """

    id: RequestId
    player: PlayerName


class Seek(Message, frozen=True):
    """Ask to be paired with anyone who seeks the same; a game of one seat begins at once. Answer:
    ``ok`` with ``seek``.

    id: number of this request.
    game: the game.
    time_control: the time control, such as ``move:1`` or ``total:60+0.5``.
    rated: whether the matches count for the leaderboard.
    count: number of matches wanted, each match of a mirrored pairing counted; a pairing is always
        played whole, so there may be a match more than wanted. 0 for as many as come until the
        seek is withdrawn.
    mirrored: whether to play pairings: at once one match for every order of the seats, so two
        matches with the seats swapped in a game for two. Each has its own chance. Only seeks that
        are mirrored, too, fit; the bot must take as many matches at once (``hello.max_matches``).
    """

    id: RequestId
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    count: Annotated[int, Meta(ge=0, le=1_000_000)] = 1
    mirrored: bool = False


class Unseek(Message, frozen=True):
    """Withdraw a seek. Answer: ``ok``.

    id: number of this request.
    seek: id from the ``ok`` that answered the seek.
    """

    id: RequestId
    seek: Identifier


class Challenge(Message, frozen=True):
    """Ask one opponent for a match, or several of them. Answer: ``ok`` with ``challenge``.

    id: number of this request.
    opponent: who is asked, connected now: ``player/bot``, or the name of a player alone for the
        player in person (who said ``hello`` without ``bot``), not for any bot of that player. Case
        makes no difference.
    game: the game.
    time_control: the time control.
    rated: whether the match counts for the leaderboard.
    seat: seat you want, the first is 0; absent for any. In a mirrored pairing that of the first
        match. The opponents have the seats after yours, in the order in which they are named.
    mirrored: whether to play one match for every order of the seats at once, so two matches with
        the seats swapped in a game for two, each with its own chance.
    others: who else is asked, in a game for three and more: as many as there are seats besides
        yours and that of ``opponent``. The match begins when all have accepted.
    """

    id: RequestId
    opponent: BotName
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    seat: SeatIndex | None = None
    mirrored: bool = False
    others: Annotated[list[BotName], Meta(max_length=63)] = []


class Answer(Message, frozen=True):
    """Accept or decline a challenge; the challenger withdraws it by declining. Answer: ``ok``.

    id: number of this request.
    challenge: id from ``challenged``.
    accept: whether to play.
    reason: why not, for the challenger.
    """

    id: RequestId
    challenge: Identifier
    accept: bool
    reason: Annotated[str, Meta(max_length=256)] = ""


class Ready(Message, frozen=True):
    """Say that you have set up for a ``waiting`` match; it starts when every seat has.
    Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    nonce: your contribution to the randomness of the match, as hex, at most 32 bytes.
    """

    id: RequestId
    match: Identifier
    nonce: HexNonce = ""


class Act(Message, frozen=True):
    """Play an action. Answer: ``accepted``. Safe to send again after a reconnect.

    id: number of this request.
    match: id of the match.
    ply: index of the action, from ``turn`` or the snapshot.
    action: the action in the notation of the game.
    info: what the bot thought, for whoever sees the match once its pairing is over: an object with
        ``value`` (what the seat expects, in the game's returns), ``depth``, ``nodes``, ``pv`` (the
        play expected from here, actions as text) and ``text`` (at most 2000 characters), each
        optional; 4096 bytes in all. With ``live`` true, spectators see it while the match runs, if
        it is casual and nobody else plays in it but your account and bots of the house. What cannot
        be kept is left out as a whole and never costs the action: ``accepted.info_refused`` then
        says why.
    """

    id: RequestId
    match: Identifier
    ply: PlyIndex
    action: ActionText
    info: Any = None


class Resign(Message, frozen=True):
    """Give a match up. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    reason: ``resignation``, or ``bot_crash`` when the runner speaks for a bot that failed.
    detail: what went wrong, such as a traceback; shown to the author of the bot only.
    """

    id: RequestId
    match: Identifier
    reason: Literal["resignation", "bot_crash"] = "resignation"
    detail: Annotated[str, Meta(max_length=16384)] = ""


class OfferDraw(Message, frozen=True):
    """Offer a draw; it stands until the opponent has acted. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class AcceptDraw(Message, frozen=True):
    """Accept the draw on offer. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class DeclineDraw(Message, frozen=True):
    """Decline the draw on offer. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Sync(Message, frozen=True):
    """Ask for the full state of a match of yours. Answer: ``match``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Watch(Message, frozen=True):
    """Follow a match as a spectator. Answer: ``match``; then ``update`` and ``finished`` come.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Unwatch(Message, frozen=True):
    """Stop following a match. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Bye(Message, frozen=True):
    """Leave in good order: seeks and challenges are withdrawn. Answer: ``ok``, then the server
    closes with code 1000. A bot that leaves running matches may still come back to them.

    id: number of this request.
    """

    id: RequestId
