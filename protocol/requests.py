"""What clients send. Import these from `plyhouse.protocol.messages`."""

# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty list or dict

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from plyhouse.protocol.parts import (
    LONGEST_DETAIL,
    LONGEST_SECRET,
    MOST_GAMES,
    PROTOCOL_VERSION,
    ActionText,
    BotName,
    Digest,
    GameSpec,
    GiveUp,
    HelpDemand,
    HexNonce,
    Identifier,
    Label,
    Message,
    OwnBotName,
    Phrase,
    PlayerName,
    PlyIndex,
    Remark,
    RequestId,
    SeatIndex,
    TimeControlText,
)


class Hello(Message, frozen=True):
    """Log in; the first request of a connection. Answer: ``welcome``.

    id: number of this request.
    token: secret of the player's account. Empty, without bot and games, to watch only.
    bot: name of this bot: 1 to 32 letters of one script, digits, ``_``, ``-`` or ``.``, with at
        least one letter or digit. Empty, or the player's own name, to play in person. Names are
        case-insensitive.
    games: games in which organisers and challengers may match you.
    client: name and version of your program, for statistics.
    updates: whether to receive ``update`` in your own matches while another seat is to act.
    scenes: whether to receive scenes, ready to draw.
    max_matches: most matches that you want to play at once.
    session: key from your last ``welcome``. It replaces the connection that received it, if the
        server still considers that connection open. You get your matches back without it, too, and
        an unknown key is ignored.
    takeover: whether to replace any other open connection of the same bot; the server closes that
        connection with ``auth/replaced``. Without this and without the right ``session``, the
        answer is ``auth/already_connected``.
    version: label of this build of the bot, in printable characters. The server keeps results of
        each version apart.
    protocol: version of the protocol that you use.
    digest: SHA-256 of the bot's files as 64 hexadecimal digits, computed by the runner; empty if
        unknown. The same ``version`` with another digest is another version.
    signed_in: for the server's own pages: log in as the person who is signed in in the browser that
        opened the websocket. The server knows that person by a cookie; ``token`` and ``bot`` must
        be empty.
    """

    id: RequestId
    token: Annotated[str, Meta(max_length=LONGEST_SECRET)]
    bot: OwnBotName = ""
    games: Annotated[list[GameSpec], Meta(max_length=MOST_GAMES)] = []
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
    """Create an account, if the server allows registration; before ``hello``.
    Answer: ``registered``.

    id: number of this request.
    player: name of the account: 1 to 32 letters of one script, digits, ``_``, ``-`` or ``.``, with
        at least one letter or digit. Names that differ only in case count as the same.
    """

    id: RequestId
    player: PlayerName


class Seek(Message, frozen=True):
    """Look for an opponent with the same wishes; a game with one seat begins at once. Answer:
    ``ok`` with ``seek``.

    id: number of this request.
    game: the game.
    time_control: the time control, such as ``move:1`` or ``total:60+0.5``.
    rated: whether the matches count for the leaderboard.
    count: number of matches wanted; each match of a mirrored pairing counts. The server plays whole
        pairings, so there may be more matches than wanted. 0 for no limit until you withdraw it.
    mirrored: whether to play one match for every order of the seats at the same time: two matches
        in a game for two. Each match has its own chance events. It fits only other mirrored seeks,
        and ``hello.max_matches`` must allow that many matches.
    invitation: a secret that you choose and pass on, for a match with those who seek with the same
        one. Such a seek fits no other seek, and the server lists it nowhere.
    help: level of help that all seats must have, as the labels of their versions state it; empty
        for any. Such a seek fits only seeks with the same level.
    """

    id: RequestId
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    count: Annotated[int, Meta(ge=0, le=1_000_000)] = 1
    mirrored: bool = False
    invitation: Label = ""
    help: HelpDemand = ""


class Unseek(Message, frozen=True):
    """Withdraw a seek. Answer: ``ok``.

    id: number of this request.
    seek: id from the ``ok`` that answered the seek.
    """

    id: RequestId
    seek: Identifier


class Challenge(Message, frozen=True):
    """Challenge one opponent or several to a match. Answer: ``ok`` with ``challenge``.

    id: number of this request.
    opponent: the opponent, who must be connected: ``player/bot``, or a player's name alone for the
        player in person. Names are case-insensitive.
    game: the game.
    time_control: the time control.
    rated: whether the match counts for the leaderboard.
    seat: your seat, counted from 0; absent for any. In a mirrored pairing, your seat in the first
        match. The opponents take the seats after yours, in the order in which you name them.
    mirrored: whether to play one match for every order of the seats at the same time: two matches
        in a game for two. Each match has its own chance events.
    others: the other opponents in a game for three or more, one for each remaining seat. The match
        begins when all have accepted.
    help: level of help that all opponents must have, as the labels of their versions state it;
        empty for any.
    """

    id: RequestId
    opponent: BotName
    game: GameSpec
    time_control: TimeControlText
    rated: bool = False
    seat: SeatIndex | None = None
    mirrored: bool = False
    others: Annotated[list[BotName], Meta(max_length=63)] = []
    help: HelpDemand = ""


class Answer(Message, frozen=True):
    """Accept or decline a challenge; the challenger withdraws it by declining. Answer: ``ok``.

    id: number of this request.
    challenge: id from ``challenged``.
    accept: whether to play.
    reason: why you decline, for the challenger.
    """

    id: RequestId
    challenge: Identifier
    accept: bool
    reason: Remark = ""


class Ready(Message, frozen=True):
    """Report that you are ready for a ``waiting`` match; it starts when every seat is.
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
    info: the bot's thoughts, public once the pairing is over, as an object of at most 4096 bytes.
        It may have ``value`` (expected return of the seat), ``depth``, ``nodes``, ``pv`` (principal
        variation, actions as text) and ``text`` (at most 2000 characters). With ``live`` true,
        spectators see it during the match, if the match is casual and the other seats belong to
        your account or to built-in bots. If the server cannot store it, the action still counts and
        ``accepted.info_refused`` says why.
    """

    id: RequestId
    match: Identifier
    ply: PlyIndex
    action: ActionText
    info: Any = None


class Resign(Message, frozen=True):
    """Resign a match. Answer: ``ok``.

    id: number of this request.
    match: id of the match.
    reason: ``resignation``; or, when the runner reports it, ``bot_crash`` if the bot failed, and
        ``no_answer`` if a language model named no legal action.
    detail: what went wrong, such as a traceback; shown to the author of the bot only.
    """

    id: RequestId
    match: Identifier
    reason: GiveUp = "resignation"
    detail: Annotated[str, Meta(max_length=LONGEST_DETAIL)] = ""


class OfferDraw(Message, frozen=True):
    """Offer a draw; the offer is open until the opponent acts. Answer: ``ok``.

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


class Say(Message, frozen=True):
    """Say one of some phrases to the others at a running match. Answer: ``ok``.

    The server refuses phrases in matches of competitions, and in games of hidden information for
    three or more, where they could be signals.

    id: number of this request.
    match: id of the match.
    phrase: what you say.
    """

    id: RequestId
    match: Identifier
    phrase: Phrase


class Sync(Message, frozen=True):
    """Request a snapshot of a match that you play. Answer: ``match``.

    id: number of this request.
    match: id of the match.
    """

    id: RequestId
    match: Identifier


class Watch(Message, frozen=True):
    """Follow a match as a spectator. Answer: ``match``; ``update`` and ``finished`` follow.
    If the match is over, its snapshot has the outcome, and nothing follows.

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
    """Disconnect; the server withdraws your seeks and challenges. Answer: ``ok``, then the server
    closes with code 1000. You may reconnect to matches that still run.

    id: number of this request.
    """

    id: RequestId
