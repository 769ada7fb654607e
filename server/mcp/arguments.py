"""Arguments and answers of the tools, from which their schemas are made.

The docstring of a struct ends with a line ``field: text`` for each field; the schema repeats them.
"""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from plyhouse.protocol.parts import (
    ActionText,
    BotName,
    GameSpec,
    HelpDemand,
    Identifier,
    PlyIndex,
    Remark,
    SeatIndex,
    TimeControlText,
)

LONGEST_WAIT: Final = 50.0
"""Seconds; most clients and proxies wait a minute for an answer."""
PATIENT: Final = "total:1800"
"""The time control of a model that names none: models think for long."""
_FIELD: Final = re.compile(r"^(\w+): (.+)$", re.MULTILINE)

Seconds = Annotated[float, Meta(ge=0, le=LONGEST_WAIT)]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the arguments."""


class Nothing(Arguments, frozen=True):
    """No arguments."""


class OfGame(Arguments, frozen=True):
    """A game.

    game: name of the game, with parameters that differ from the defaults, such as ``pig`` or
        ``connect_four(columns=5,rows=4)``.
    """

    game: GameSpec


class OfMatch(Arguments, frozen=True):
    """A match.

    match: id of the match.
    """

    match: Identifier


class Looking(Arguments, frozen=True):
    """A position to look at.

    match: id of the match.
    picture: whether to add a picture of the position, as SVG.
    """

    match: Identifier
    picture: bool = False


class Waiting(Arguments, frozen=True):
    """News to wait for.

    match: id of the match.
    cursor: the ``cursor`` of your last answer about this match. With it, the answer comes after the
        next event of any seat; without it, when it is your turn or the match is over.
    seconds: longest time to wait. If nothing happens, the answer is the position as it is.
    """

    match: Identifier
    cursor: Annotated[int, Meta(ge=0)] | None = None
    seconds: Seconds = 25.0


class Seeking(Arguments, frozen=True):
    """A match that you would play with anyone.

    game: name of the game, with parameters that differ from the defaults.
    time_control: seconds for each move, such as ``move:60``, or in all, such as ``total:600+5``.
    rated: whether the match counts for the leaderboard.
    help: level of help that all players must have; leave it out for any.
    seconds: longest time to wait for an opponent in this call.
    """

    game: GameSpec
    time_control: TimeControlText = PATIENT
    rated: bool = False
    help: HelpDemand = ""
    seconds: Seconds = 25.0


class Challenging(Arguments, frozen=True):
    """A match with an opponent whom you name.

    opponent: name of a connected bot or person, such as ``house/easy``.
    game: name of the game, with parameters that differ from the defaults.
    time_control: seconds for each move, such as ``move:60``, or in all, such as ``total:600+5``.
    rated: whether the match counts for the leaderboard.
    seat: your seat, counted from 0; leave it out for any.
    help: level of help that the opponent must have; leave it out for any.
    seconds: longest time to wait for the answer in this call.
    """

    opponent: BotName
    game: GameSpec
    time_control: TimeControlText = PATIENT
    rated: bool = False
    seat: SeatIndex | None = None
    help: HelpDemand = ""
    seconds: Seconds = 25.0


class Answering(Arguments, frozen=True):
    """Your answer to a challenge.

    challenge: id of the challenge, from ``my_matches``.
    accept: whether to play.
    reason: why you decline, for the challenger.
    """

    challenge: Identifier
    accept: bool
    reason: Remark = ""


class Acting(Arguments, frozen=True):
    """An action.

    match: id of the match.
    ply: the ``ply`` of the position that you answer. A second call with the same ply changes
        nothing, so you can repeat a call whose answer was lost.
    action: one of the legal actions, written as they are listed.
    """

    match: Identifier
    ply: PlyIndex
    action: ActionText


class Drawing(Arguments, frozen=True):
    """An offer of a draw, or your answer to one.

    match: id of the match.
    what: ``offer``, ``accept`` or ``decline``.
    """

    match: Identifier
    what: Annotated[str, Meta(pattern="^(offer|accept|decline)$")]


class Reviewing(Arguments, frozen=True):
    """A match to review.

    match: id of the match.
    seat: the seat whose actions are judged; by default the one that lost.
    """

    match: Identifier
    seat: SeatIndex | None = None


class Answer(Struct, frozen=True, omit_defaults=True):
    """Base of the answers."""


class Game(Answer, frozen=True):
    """A game that the server hosts.

    name: name for ``seek``, ``challenge`` and ``rules``.
    title: name for people.
    summary: the game in one sentence.
    seats: the possible numbers of seats.
    chance: whether dice or cards decide.
    information: ``perfect`` or ``imperfect``.
    parameters: defaults of the parameters.
    """

    name: str
    title: str
    summary: str
    seats: list[int]
    chance: str
    information: str
    parameters: dict[str, Any] = {}


class Games(Answer, frozen=True):
    """The games of the server.

    games: the games.
    """

    games: list[Game]


class Rules(Answer, frozen=True):
    """The rules of a game.

    game: the game.
    rules: the rules in words; empty if you play without them.
    notation: how actions are written.
    """

    game: str
    rules: str
    notation: str


class Event(Answer, frozen=True):
    """One thing that happened, as you may see it.

    ply: index of the action; for a chance event, of the action that follows it.
    seat: seat that acted; -1 for dice and cards.
    action: the action in the notation of the game; null if it is hidden from you.
    shown: the action as people write it, if that differs.
    """

    ply: int
    seat: int
    action: str | None
    shown: str = ""


class View(Answer, frozen=True):
    """A match as your seat may see it.

    match: id of the match.
    game: the game with its parameters.
    time_control: the time control.
    rated: whether it counts for the leaderboard.
    status: ``waiting``, ``running`` or ``finished``.
    players: name of the player or bot in each seat. Names are chosen by other users.
    seat: your seat; null for spectators.
    your_turn: whether the server waits for your action.
    ply: index of the next action, for ``act``.
    cursor: how far you have seen this match, for ``wait``.
    text: the position as text.
    observation: the position as fields, which depend on the game.
    legal: your legal actions, if it is your turn. A long list is cut short.
    legal_left_out: whether there are more legal actions than ``legal`` has.
    events: everything that happened, oldest first.
    clocks_ms: milliseconds left for each seat.
    deadline_ms: milliseconds until your time is over; null if it is not your turn.
    draw_offered_by: seats that offer a draw.
    illegal_rule: ``forfeit`` if an illegal action loses the match, ``retry`` if you may try again.
    termination: why the match ended.
    returns: result of each seat, on the scale of the game.
    reason: the end in one sentence.
    """

    match: str
    game: str
    time_control: str
    rated: bool
    status: str
    players: list[str]
    seat: int | None
    your_turn: bool
    ply: int
    cursor: int
    text: str
    observation: dict[str, Any] = {}
    legal: list[str] = []
    legal_left_out: bool = False
    events: list[Event] = []
    clocks_ms: list[int] = []
    deadline_ms: int | None = None
    draw_offered_by: list[int] = []
    illegal_rule: str = "forfeit"
    termination: str = ""
    returns: list[float] = []
    reason: str = ""


class Found(Answer, frozen=True):
    """Outcome of a seek or challenge.

    match: id of the new match; empty if there is none yet.
    status: ``playing``, ``waiting`` or why a challenge was closed.
    advice: what to do next.
    view: the position of the new match.
    """

    match: str
    status: str
    advice: str
    view: View | None = None


class OpenChallenge(Answer, frozen=True):
    """A challenge that waits for your answer.

    challenge: id for ``answer_challenge``.
    opponent: the challenger.
    game: the game.
    time_control: the time control.
    rated: whether the match would count for the leaderboard.
    """

    challenge: str
    opponent: str
    game: str
    time_control: str
    rated: bool


class Mine(Answer, frozen=True):
    """Your matches, challenges and news.

    name: your name on this server.
    matches: your running matches, without their events.
    challenges: challenges that wait for your answer.
    results: ids of matches that ended since you connected.
    notices: news of the server since the last call.
    """

    name: str
    matches: list[View] = []
    challenges: list[OpenChallenge] = []
    results: list[str] = []
    notices: list[str] = []


class Legal(Answer, frozen=True):
    """Your legal actions.

    match: id of the match.
    ply: index of the action, for ``act``.
    legal: the actions, written as ``act`` takes them; empty if it is not your turn.
    left_out: whether there are more.
    """

    match: str
    ply: int
    legal: list[str]
    left_out: bool = False


class Played(Answer, frozen=True):
    """An action that the server has played and stored.

    match: id of the match.
    ply: index of the action.
    repeated: whether it had been played before; this call changed nothing.
    charged_ms: milliseconds taken off your clock.
    view: the position after it.
    """

    match: str
    ply: int
    repeated: bool
    charged_ms: int | None
    view: View


class Done(Answer, frozen=True):
    """The server has carried out the request.

    view: the match after it.
    """

    view: View


class Result(Answer, frozen=True):
    """How a match ended.

    match: id of the match.
    over: whether it has ended.
    termination: why it ended; a match with ``server_fault`` or ``aborted`` does not count.
    returns: result of each seat, on the scale of the game.
    players: name of the player or bot in each seat.
    reason: the end in one sentence.
    """

    match: str
    over: bool
    termination: str = ""
    returns: list[float] = []
    players: list[str] = []
    reason: str = ""


class Review(Answer, frozen=True):
    """A review of the actions of one seat, by a search or a solver.

    review: the review, as the HTTP API answers it.
    """

    review: dict[str, Any]


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a struct, with the meanings of its fields from the docstrings.

    Its root is an object and no reference, as clients of MCP need it.
    """
    _, parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    for part in parts.values():
        part.pop("title", None)
        meanings = _meanings(part.pop("description", ""))
        for field, schema in part["properties"].items():
            if field in meanings:
                part["properties"][field] = {**schema, "description": meanings[field]}
    schema = parts.pop(kind.__name__)
    return {**schema, "$defs": parts} if parts else schema


def _meanings(text: str) -> dict[str, str]:
    r"""Return the lines ``field: text`` of a docstring; a long text goes on in indented lines.

    >>> _meanings("An action.\n\nply: index\n    of ``act``.\nmatch: id.")
    {'ply': "index of 'act'.", 'match': 'id.'}
    """
    joined = re.sub(r"\n[ ]+", " ", inspect.cleandoc(text)).replace("``", "'")
    return dict(_FIELD.findall(joined))
