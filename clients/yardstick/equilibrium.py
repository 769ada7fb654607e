"""Any bot in a small game of hidden information: against an equilibrium, and by best responses.

The opponent plays a policy that CFR+ has computed.  Besides, the yardstick asks the bot in every
information state, several times, as it may draw its actions.  The shares of its answers are its
policy, as far as that can be seen from outside, and best responses show what can be won from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from plyhouse.bots.client.timing import REAL_CLOCK, SECOND
from plyhouse.bots.hosting.hosted_session import launched
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.messages import Begin, Chosen, Failed
from plyhouse.bots.process.supervisor import Request, Supervisor
from plyhouse.clients.arena.tally import Interval
from plyhouse.clients.shared.errors import CommandError
from plyhouse.clients.yardstick.measuring import Measured
from plyhouse.clients.yardstick.scales import Engines, Opponent
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.protocol.messages import Event, MatchSnapshot, SeatInfo
from plyhouse.search import Limit, Policy, cfr_plus
from plyhouse.search.equilibria.best_response import best_response, expected_returns, exploitability
from plyhouse.search.equilibria.tabular import TabularPolicy, canonical_text

SOLVE_SECONDS: Final = 20.0
"""Time to compute the policy of the opponent."""
QUESTIONS: Final = 20
"""Questions in each information state."""
RESAMPLES: Final = 40
"""Samples of the answers with replacement, from which the interval follows."""
GRACE: Final = 2.0
"""Seconds after its time until a bot that says nothing has failed."""


@contextlib.contextmanager
def equilibrium(game: Game) -> Iterator[Engines]:
    """Compute a policy by CFR+, and give a scale whose opponent plays it."""
    solution = cfr_plus(game, Limit(time=SOLVE_SECONDS), iterations=1000)
    with tempfile.TemporaryDirectory(prefix="plyhouse-") as folder:
        file = Path(folder, "equilibrium.policy")
        solution.policy.save(file)
        yield Engines((Opponent("policy", f'policy(file="{file}")'),))


@dataclass(frozen=True, slots=True)
class InformationState:
    """An information state, by one of its states and what its seat saw on the way there."""

    state: Any
    events: tuple[Event, ...]
    ply: int

    @property
    def seat(self) -> int:
        """The seat to move."""
        seat: int = self.state.to_move
        return seat


def information_states(game: Game, most: int) -> list[InformationState] | None:
    """Return all information states of a game; None if there are more than ``most``."""
    found: dict[str, InformationState] = {}
    for state, path in _walk(game):
        seat = state.to_move
        key = canonical_text(game.information_state(state, seat))
        if key in found:
            continue
        if len(found) == most:
            return None
        found[key] = InformationState(state, _seen(game, path, seat), _plies(path))
    return list(found.values())


def _walk(game: Game) -> Iterator[tuple[Any, tuple[tuple[Any, Any], ...]]]:
    """Yield each state in which a seat is to move, with the states and actions before it."""
    stack: list[tuple[Any, tuple[tuple[Any, Any], ...]]] = [(game.initial_state(), ())]
    while stack:
        state, path = stack.pop()
        if state.to_move == TERMINAL:
            continue
        if state.to_move == CHANCE:
            actions = [outcome for outcome, _ in state.chance_outcomes()]
        else:
            yield state, path
            actions = list(state.actions())
        stack += [(state.after(action), (*path, (state, action))) for action in reversed(actions)]


def _plies(path: tuple[tuple[Any, Any], ...]) -> int:
    return sum(state.to_move != CHANCE for state, _ in path)


def _seen(game: Game, path: tuple[tuple[Any, Any], ...], viewer: int) -> tuple[Event, ...]:
    """Return the events of a path as a seat may see them."""
    events: list[Event] = []
    ply = 0
    for state, action in path:
        events.append(Event(ply, state.to_move, game.visible(state, action, viewer)))
        ply += state.to_move != CHANCE
    return tuple(events)


async def approximate_exploitability(
    game: Game,
    bot: str,
    asked: list[InformationState],
    *,
    seconds: float,
    seed: int,
    sandbox: bool = False,
    on_asked: Callable[[], None],
    on_line: Callable[[str], None],
) -> Measured:
    """Ask a bot in all information states, and return what best responses win from its answers.

    On average the result is too high, as best responses also use the chance in the answers, and
    `exploitability_found_anew` is too low.  The interval covers both.  Raises `CommandError` if the
    bot does not answer.
    """
    answers: list[Counter[str]] = []
    async with launched(bot, sandbox=sandbox, games=[game.spec]) as (spec, launcher):
        log = AuthorLog("bot", terminal=on_line)
        supervisor = Supervisor(spec, log, launcher=launcher)
        await supervisor.start()
        try:
            for number, each in enumerate(asked):
                texts = Counter[str]()
                for question in range(QUESTIONS):
                    name = f"asked-{number}-{question}"
                    texts[await _answer(supervisor, game, each, name, seconds, seed)] += 1
                    on_asked()
                answers.append(texts)
        finally:
            await supervisor.close()
    value = exploitability(game, policy_of(game, asked, answers))
    rng = random.Random(seed)
    again = sorted(
        exploitability(game, policy_of(game, asked, [_resampled(each, rng) for each in answers]))
        for _ in range(RESAMPLES)
    )
    least = exploitability_found_anew(game, asked, answers, rng)
    low, high = min(again[RESAMPLES // 40], least), again[-1 - RESAMPLES // 40]
    detail = f"{QUESTIONS} answers in each of {len(asked)} information states"
    if least < value:
        detail += f"; too high on average, and {least:.4f} is too low"
    return Measured(
        game.spec,
        "exploitability",
        "best responses",
        Interval(value, min(low, value), max(high, value)),
        QUESTIONS * len(asked),
        detail,
    )


async def _answer(
    supervisor: Supervisor,
    game: Game,
    asked: InformationState,
    name: str,
    seconds: float,
    seed: int,
) -> str:
    """Return the bot's action in an information state, as text."""
    snapshot = MatchSnapshot(
        match=name,
        pairing="",
        game=game.spec,
        time_control=f"move:{seconds:g}",
        rated=False,
        seat=asked.seat,
        players=[SeatInfo("asked") for _ in range(game.seats)],
        status="running",
        ply=asked.ply,
        events=list(asked.events),
    )
    begin = Begin(snapshot, f"{seed}/{name}", files=True)
    supervisor.begin(name, lambda: begin, lambda: snapshot.events)
    await supervisor.settled(name)
    now = REAL_CLOCK.now()
    limit = round(seconds * SECOND)
    request = supervisor.think(
        name,
        ply=asked.ply,
        soft_at=now + limit,
        hard_at=now + limit,
        flag_at=now + limit + round(GRACE * SECOND),
        observation=msgspec.to_builtins(game.observe(asked.state, asked.seat).fields()),
        clocks=(),
    )
    text, problem = await _first(request, seconds + GRACE)
    supervisor.end(name, None)
    if not text:
        where = game.observe(asked.state, asked.seat)
        raise CommandError(f"{game.spec}: {problem or 'the bot resigned'} at {where}")
    return game.format(asked.state, game.parse(asked.state, text))


async def _first(request: Request, seconds: float) -> tuple[str, str]:
    """Return the answer to a request or the best report, and what is wrong."""
    await asyncio.wait({request.answer}, timeout=seconds)
    if not request.answer.done():
        return request.best or "", "the bot has found nothing in its time"
    answer = request.answer.result()
    match answer:
        case Chosen(warning=""):
            return answer.action, ""
        case Chosen():
            return "", answer.warning.partition("\n")[0]
        case Failed():
            return "", f"the bot failed: {answer.error}"
    return "", ""


def _resampled(texts: Counter[str], rng: random.Random) -> Counter[str]:
    """Return as many answers, drawn from those given with replacement."""
    return Counter(rng.choices(list(texts), list(texts.values()), k=texts.total()))


def exploitability_found_anew(
    game: Game, asked: list[InformationState], answers: list[Counter[str]], rng: random.Random
) -> float:
    """Return what responses to one half of the answers win from the other half.

    The responses know nothing of the chance in the other half, so on average they win no more than
    best responses to the bot's policy.
    """
    halves: tuple[list[Counter[str]], list[Counter[str]]] = [], []
    for texts in answers:
        drawn = list(texts.elements())
        rng.shuffle(drawn)
        middle = len(drawn) // 2
        for half, part in zip(halves, (drawn[:middle], drawn[middle:]), strict=True):
            half.append(Counter(part))
    policies = [policy_of(game, asked, half) for half in halves]
    gains = []
    for known, other in (policies, policies[::-1]):
        usual = expected_returns(game, other)
        for seat in range(game.seats):
            response = best_response(game, known, seat).policy

            play = functools.partial(_by_seat, seat, response, other)
            gains.append(expected_returns(game, play)[seat] - usual[seat])
    return sum(gains) / len(gains)


def _by_seat(seat: int, own: Policy, others: Policy, state: Any) -> Any:
    """Return the choices of a policy for one seat, and of another for the other seats."""
    return own(state) if state.to_move == seat else others(state)


def policy_of(
    game: Game, asked: list[InformationState], answers: list[Counter[str]]
) -> TabularPolicy:
    """Return the shares of the answers as a policy."""
    choices = []
    for each, texts in zip(asked, answers, strict=True):
        legal = [game.format(each.state, action) for action in each.state.actions()]
        choices.append((each.state, [texts[text] / texts.total() for text in legal]))
    return TabularPolicy.of_states(game, choices)
