"""The tools, by which an agent asks and acts.

Each tool is a coroutine function that takes a `Desk` and its arguments, and returns its answer.
Its docstring is the description that a language model reads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Container
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from plyhouse.games.rules import rules_text
from plyhouse.games.scene_svg import draw_svg
from plyhouse.games.scene_text import draw_fields
from plyhouse.protocol import messages
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Accepted, MatchMessage, MatchSnapshot, Ok
from plyhouse.protocol.parts import HelpLevel
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.match.time_control import InvalidTimeControl, TimeControl
from plyhouse.server.mcp.agents import Agent, MatchTerms, OpenSeek
from plyhouse.server.mcp.arguments import (
    Acting,
    Answer,
    Answering,
    Challenging,
    Done,
    Drawing,
    Event,
    Found,
    Game,
    Games,
    Legal,
    Looking,
    Mine,
    Nothing,
    OfGame,
    OfMatch,
    OpenChallenge,
    Played,
    Result,
    Review,
    Reviewing,
    Rules,
    Seeking,
    View,
    Waiting,
)
from plyhouse.server.web.pages.template_filters import seat_name

MOST_LEGAL: Final = 256
"""Legal actions that an answer lists."""
PAUSE: Final = 0.2
"""Seconds until a snapshot is asked for again, after too many."""


class Desk(Protocol):
    """Access of a request to its agent, and to the API with its token."""

    @property
    def help(self) -> HelpLevel:
        """Help that the tools give."""

    def agent(self) -> AbstractAsyncContextManager[Agent]:
        """Yield the agent of the request's token; raises `ProtocolError` without one."""

    async def read(self, path: str, **query: str) -> Any:
        """Return the JSON answer of the HTTP API; raises `ProtocolError` for a refusal."""


Work = Callable[[Desk, Any], Awaitable[Answer]]
WorkT = TypeVar("WorkT", bound=Callable[..., Awaitable[Answer]])


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, with what its schema is made from."""

    name: str
    description: str
    arguments: type[Struct]
    answer: type[Struct]
    work: Work
    reads: bool
    """True if it changes nothing."""
    repeatable: bool
    """True if a second call with the same arguments changes nothing more."""
    destroys: bool
    """True if it can end a match."""


TOOLS: Final[dict[str, Tool]] = {}


def tool(
    *, reads: bool = False, repeatable: bool = False, destroys: bool = False
) -> Callable[[WorkT], WorkT]:
    """Register a tool under the name of its function."""

    def register(work: WorkT) -> WorkT:
        hints = {name: globals()[kind] for name, kind in work.__annotations__.items()}
        description = " ".join((work.__doc__ or "").replace("``", "'").split())
        TOOLS[work.__name__] = Tool(
            work.__name__,
            description,
            hints["wanted"],
            hints["return"],
            work,
            reads,
            reads or repeatable,
            destroys,
        )
        return work

    return register


def view_of(snapshot: MatchSnapshot, level: HelpLevel) -> View:
    """Return a snapshot as an agent reads it: the position as text, and the legal actions.

    The level ``position`` leaves the legal actions out.
    """
    legal, left_out = ([], snapshot.your_turn) if level == "position" else legal_of(snapshot)
    outcome = snapshot.outcome
    return View(
        match=snapshot.match,
        game=snapshot.game,
        time_control=snapshot.time_control,
        rated=snapshot.rated,
        status=snapshot.status,
        players=[seat_name(each) for each in snapshot.players],
        seat=snapshot.seat,
        your_turn=snapshot.your_turn,
        ply=snapshot.ply,
        cursor=len(snapshot.events),
        text=draw_fields(snapshot.scene or {}),
        observation={k: v for k, v in snapshot.observation.items() if k != "legal"},
        legal=legal,
        legal_left_out=left_out,
        events=[Event(each.ply, each.seat, each.action, each.display) for each in snapshot.events],
        clocks_ms=[each.remaining_ms for each in snapshot.clocks],
        deadline_ms=snapshot.deadline_ms,
        draw_offered_by=list(snapshot.draw_offers),
        illegal_rule=snapshot.illegal_rule,
        termination="" if outcome is None else outcome.termination,
        returns=[] if outcome is None else list(outcome.returns),
        reason="" if outcome is None else outcome.reason,
    )


def legal_of(snapshot: MatchSnapshot) -> tuple[list[str], bool]:
    """Return the legal actions of a snapshot, and whether there are more."""
    if not snapshot.your_turn:
        return [], False
    legal = snapshot.observation.get("legal") or []
    return list(legal[:MOST_LEGAL]), len(legal) > MOST_LEGAL


async def _seen(agent: Agent, match: str) -> MatchSnapshot:
    """Return a match as the agent's seat, or else a spectator, may see it.

    Beyond the limit on snapshots it waits: an answer must not fail after its action was played.
    """
    while True:
        try:
            return await _snapshot(agent, match)
        except ProtocolError as error:
            if error.code != "match/too_many_snapshots":
                raise
        await asyncio.sleep(PAUSE)


async def _view(agent: Agent, match: str) -> View:
    """Return a match as an agent reads it."""
    snapshot = await _seen(agent, match)
    return view_of(snapshot, agent.level(match))


async def _snapshot(agent: Agent, match: str) -> MatchSnapshot:
    """Ask for a match once."""
    if match in agent.matches or match in agent.results:
        try:
            return (await agent.ask(MatchMessage, messages.Sync, match=match)).snapshot
        except ProtocolError as error:
            if error.code != "match/unknown":  # it may have ended long ago
                raise
    answer = await agent.ask(MatchMessage, messages.Watch, match=match)
    if answer.snapshot.outcome is None:
        await agent.ask(Ok, messages.Unwatch, match=match)
    return answer.snapshot


# ------------------------------------------------------------------------------- games


@tool(reads=True)
async def list_games(desk: Desk, wanted: Nothing) -> Games:
    """List the games of this server, with their seats and parameters."""
    return Games(
        [
            Game(
                each["name"],
                each["title"],
                each["summary"],
                [table["seats"] for table in each["tables"]],
                each["chance"],
                each["information"],
                {part["name"]: part["default"] for part in each["parameters"]},
            )
            for each in await desk.read("games")
        ]
    )


@tool(reads=True)
async def rules(desk: Desk, wanted: OfGame) -> Rules:
    """Return the rules of a game, and how its actions are written.  The rules are empty where you
    play without them.
    """
    game = read_game(wanted.game)
    text = rules_text(game) if desk.help == "rules" else ""
    return Rules(game.spec, text, game.action_notation)


# ----------------------------------------------------------------------------- opponents


@tool(repeatable=True)
async def seek(desk: Desk, wanted: Seeking) -> Found:
    """Look for an opponent with the same wishes. While the status is ``waiting``, call it again
    with the same arguments to go on waiting; the seek stays open in between.
    """
    terms = _terms(wanted)
    async with desk.agent() as agent:
        if terms not in agent.seeks:
            known = frozenset(agent.begun)
            answer = await agent.ask(
                Ok,
                messages.Seek,
                game=wanted.game,
                time_control=wanted.time_control,
                rated=wanted.rated,
                help=wanted.help,
            )
            agent.seeks[terms] = OpenSeek(answer.seek, known)
        match = await _begun(agent, agent.seeks[terms].known, terms, wanted.seconds)
        if not match:
            return Found(
                "", "waiting", f"Nobody seeks {terms.game} with these terms yet. Call again."
            )
        await _withdraw(agent, terms)  # a challenge or another seek may have begun the match
        return await _playing(agent, match)


def _terms(wanted: Seeking | Challenging) -> MatchTerms:
    """Return the terms as those of a match will be written; raises `ProtocolError`."""
    try:
        control = str(TimeControl.parse(wanted.time_control))
    except InvalidTimeControl:
        control = wanted.time_control  # the lobby says what is wrong with it
    return MatchTerms(read_game(wanted.game).spec, control, wanted.rated, wanted.help)


async def _begun(
    agent: Agent,
    known: Container[str],
    terms: MatchTerms,
    seconds: float,
    ended: Callable[[], bool] = lambda: False,
) -> str:
    """Wait for a match that fits these terms and is not ``known``; return its id.

    Returns "" if none has begun in time, or once ``ended`` is true.
    """
    until = time.monotonic() + seconds
    while True:
        new = [each for each in agent.begun if each not in known and agent.begun[each].fit(terms)]
        match = new[0] if new else ""
        left = until - time.monotonic()
        if match or ended() or left <= 0 or not agent.open:
            return match
        await agent.news(left)


async def _playing(agent: Agent, match: str) -> Found:
    """Return a match that has begun; it is news to no other seek."""
    for terms, each in agent.seeks.items():
        agent.seeks[terms] = each._replace(known=each.known | {match})
    view = await _view(agent, match)
    return Found(match, "playing", "Play with `act`; wait with `wait`.", view)


@tool(repeatable=True, destroys=True)
async def cancel_seek(desk: Desk, wanted: Nothing) -> Mine:
    """Withdraw all of your seeks."""
    async with desk.agent() as agent:
        for terms in tuple(agent.seeks):
            await _withdraw(agent, terms)
        return await _mine(agent)


async def _withdraw(agent: Agent, terms: MatchTerms) -> None:
    """Withdraw a seek; do nothing if a call at the same time did."""
    if (found := agent.seeks.pop(terms, None)) is None:
        return
    try:
        await agent.ask(Ok, messages.Unseek, seek=found.id)
    except ProtocolError as error:
        if error.code != "seek/unknown":  # it may have been matched meanwhile
            raise


@tool()
async def challenge(desk: Desk, wanted: Challenging) -> Found:
    """Challenge a connected bot or person to a match, such as the built-in bot ``house/easy``."""
    async with desk.agent() as agent:
        known, terms = frozenset(agent.begun), _terms(wanted)
        asked = await agent.ask(
            Ok,
            messages.Challenge,
            opponent=wanted.opponent,
            game=wanted.game,
            time_control=wanted.time_control,
            rated=wanted.rated,
            seat=wanted.seat,
            help=wanted.help,
        )

        def refusal() -> str:
            closed = agent.closed_challenges.get(asked.challenge)
            return "" if closed is None or closed.reason == "accepted" else closed.reason

        match = await _begun(agent, known, terms, wanted.seconds, lambda: bool(refusal()))
        if match:
            return await _playing(agent, match)
        if why := refusal():
            return Found("", why, "Challenge another opponent, or seek one.")
        return Found("", "waiting", "There is no answer yet: look at `my_matches` later.")


@tool(repeatable=True)
async def answer_challenge(desk: Desk, wanted: Answering) -> Mine:
    """Accept or decline a challenge that ``my_matches`` lists."""
    async with desk.agent() as agent:
        await agent.ask(
            Ok,
            messages.Answer,
            challenge=wanted.challenge,
            accept=wanted.accept,
            reason=wanted.reason,
        )
        agent.challenges.pop(wanted.challenge, None)
        return await _mine(agent)


@tool(reads=True)
async def my_matches(desk: Desk, wanted: Nothing) -> Mine:
    """List your running matches, and the challenges that wait for your answer."""
    async with desk.agent() as agent:
        return await _mine(agent)


async def _mine(agent: Agent) -> Mine:
    views = [await _view(agent, match) for match in tuple(agent.matches)]
    notices, agent.notices = agent.notices, []
    return Mine(
        agent.name,
        [msgspec.structs.replace(each, events=[]) for each in views],
        [
            OpenChallenge(each.challenge, each.opponent, each.game, each.time_control, each.rated)
            for each in agent.challenges.values()
        ],
        list(agent.results),
        [f"{each.code}: {each.message}" for each in notices],
    )


# -------------------------------------------------------------------------------- play


@tool(reads=True)
async def position(desk: Desk, wanted: Looking) -> View:
    """Return a match as your seat may see it: the position as text and as fields, the legal
    actions, the clocks, and all that has happened.
    """
    async with desk.agent() as agent:
        snapshot = await _seen(agent, wanted.match)
        view = view_of(snapshot, agent.level(snapshot.match))
    if not wanted.picture:
        return view
    return Pictured(**msgspec.structs.asdict(view), svg=draw_svg(snapshot.scene or {}))


class Pictured(View, frozen=True, kw_only=True):
    """A match with the picture of its position, which is sent beside the fields."""

    svg: str


@tool(reads=True)
async def legal_actions(desk: Desk, wanted: OfMatch) -> Legal:
    """Return your legal actions in a match, written as ``act`` takes them."""
    async with desk.agent() as agent:
        if agent.level(wanted.match) == "position":
            text = "This bot plays with help=position, which leaves the legal actions out."
            raise ProtocolError("help/level", text)
        snapshot = await _seen(agent, wanted.match)
        return Legal(wanted.match, snapshot.ply, *legal_of(snapshot))


@tool(repeatable=True)
async def act(desk: Desk, wanted: Acting) -> Played:
    """Play an action. An illegal one may lose the match at once (``illegal_rule``)."""
    async with desk.agent() as agent:
        answer = await agent.ask(
            Accepted, messages.Act, match=wanted.match, ply=wanted.ply, action=wanted.action
        )
        charged = None if answer.ledger is None else answer.ledger.charged_ms
        view = await _view(agent, wanted.match)
        return Played(wanted.match, wanted.ply, answer.duplicate, charged, view)


@tool(reads=True)
async def wait(desk: Desk, wanted: Waiting) -> View:
    """Wait until it is your turn or the match is over; with ``cursor``, until anything happens."""
    until = time.monotonic() + wanted.seconds
    async with desk.agent() as agent:
        while True:
            heard = agent.heard
            snapshot = await _seen(agent, wanted.match)
            over = snapshot.status == "finished"
            new = wanted.cursor is not None and len(snapshot.events) > wanted.cursor
            left = until - time.monotonic()
            if over or snapshot.your_turn or new or left <= 0 or not agent.open:
                return view_of(snapshot, agent.level(snapshot.match))
            if wanted.match not in agent.matches:
                # A spectator gets no news of it here: look again after a while.
                await agent.news(min(left, 2.0))
            elif not await agent.news(left, heard):
                return await _view(agent, wanted.match)


DRAWS: Final = {
    "offer": messages.OfferDraw,
    "accept": messages.AcceptDraw,
    "decline": messages.DeclineDraw,
}


@tool(destroys=True)
async def draw(desk: Desk, wanted: Drawing) -> Done:
    """Offer a draw, or answer the offer of your opponent."""
    async with desk.agent() as agent:
        await agent.ask(Ok, DRAWS[wanted.what], match=wanted.match)
        return Done(await _view(agent, wanted.match))


@tool(destroys=True)
async def resign(desk: Desk, wanted: OfMatch) -> Done:
    """Resign a match: you lose it."""
    async with desk.agent() as agent:
        await agent.ask(Ok, messages.Resign, match=wanted.match)
        return Done(await _view(agent, wanted.match))


# ------------------------------------------------------------------------------ results


@tool(reads=True)
async def result(desk: Desk, wanted: OfMatch) -> Result:
    """Return how a match ended."""
    async with desk.agent() as agent:
        seen = await _view(agent, wanted.match)
    over = seen.status == "finished"
    return Result(wanted.match, over, seen.termination, seen.returns, seen.players, seen.reason)


@tool(reads=True)
async def review(desk: Desk, wanted: Reviewing) -> Review:
    """Judge the actions of a seat in a finished match, by a search or a solver. It can take a
    minute.
    """
    query = {} if wanted.seat is None else {"seat": str(wanted.seat)}
    return Review(await desk.read(f"matches/{wanted.match}/review", **query))
