"""``uci``: plays by a UCI engine, ``uci(engine="stockfish", options="Skill Level=3")``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import (
    START_TIMEOUT,
    Engine,
    EngineBot,
    EngineClock,
    Thinking,
    engine_clock,
)
from plyhouse.bots.engines.engine_process import Wait
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.uci import BestMove, Info, ReadyOk, UciClient, UciOk
from plyhouse.bots.engines.variants import GAMES, Variant, variant_of
from plyhouse.games.base import Game

__all__ = ["UciBot", "UciEngine", "go", "value_of"]


def go(clock: EngineClock, seat: int) -> str:
    """Return the line that lets an engine think in this time.

    >>> go(EngineClock(use=2000, own=59000, other=58000, increment=500, total=60000), seat=1)
    'go wtime 58000 btime 59000 winc 500 binc 500'
    >>> go(EngineClock(use=900, own=950, other=1000, increment=0, total=None), seat=0)
    'go movetime 900'
    """
    if clock.total is None:
        return f"go movetime {clock.use}"
    white, black = (clock.own, clock.other) if seat == 0 else (clock.other, clock.own)
    return f"go wtime {white} btime {black} winc {clock.increment} binc {clock.increment}"


def value_of(info: Info) -> float | None:
    """Return the expected return of the mover, from -1 to 1; None if the engine gave no score.

    A hundred centipawns are taken for about 0.18, as between good players.
    """
    if info.mate is not None:
        return 1.0 if info.mate > 0 else -1.0
    if info.centipawns is None:
        return None
    return math.tanh(max(-5000, min(5000, info.centipawns)) * 0.00184)


class UciEngine(Engine):
    """A UCI engine."""

    protocol = "UCI"

    variant: Variant

    def introduce(self, turn: Wait | None) -> None:
        """Read the options of the engine and set those of the user."""
        self.client = UciClient(self.program.name)
        self.process.send("uci")
        self.await_message(self.client.receive, UciOk, "uci", turn)
        lines = [self.client.set_option(name, value) for name, value in self.options]
        self.get_ready(turn, *lines)

    def get_ready(self, turn: Wait | None, *lines: str) -> None:
        """Send lines, and wait until the engine has done what they say."""
        self.process.send(*lines, "isready")
        self.await_message(self.client.receive, ReadyOk, "isready", turn)

    def plays(self, game: str) -> bool:
        """Return whether it plays chess, or has the variant."""
        variants = self.client.options.get("uci_variant")
        return game == "chess" or (variants is not None and game in variants.choices)

    def set_up(self, game: Game, turn: Wait | None) -> None:
        """Begin a match; raise `EngineError` if the engine does not play the game."""
        client = self.client
        variant = self.variant = variant_of(game, client.name)
        lines = []
        if not self.plays(variant.name):
            raise EngineError(
                f"{client.name} does not play {variant.name}: its option UCI_Variant is missing or "
                "does not have it. Use an engine that plays it, like fairy-stockfish."
            )
        if client.has_option("UCI_Variant"):
            lines.append(client.set_option("UCI_Variant", variant.name))
        if variant.chess960 and not client.has_option("UCI_Chess960"):
            raise EngineError(
                f"{client.name} does not play Chess960: it has no option UCI_Chess960. Use an "
                "engine that has it, like stockfish."
            )
        if client.has_option("UCI_Chess960"):
            value = "true" if variant.chess960 else "false"
            lines.append(client.set_option("UCI_Chess960", value))
        self.get_ready(turn, *lines, "ucinewgame")


class UciBot(EngineBot):
    """Bot that plays by a UCI engine, as Stockfish is.

    engine: its program, a name or a path, with arguments behind it.
    options: options of the engine, like "Skill Level=3; Hash=16".
    start_timeout: seconds that the engine may take to start, and to prepare for a match.
    """

    name = "uci"
    kind = UciEngine
    options_example = "Skill Level=3; Hash=16"
    games = GAMES

    def __init__(
        self, engine: str = "stockfish", options: str = "", start_timeout: float = START_TIMEOUT
    ) -> None:
        super().__init__(engine, options, start_timeout)

    def choose(self, turn: Turn) -> Any:
        """Return the engine's move."""
        thinking = Thinking(turn)
        engine = self.ready(UciEngine, turn.game, thinking.wait)
        client, variant = engine.client, engine.variant
        # What the engine still writes about another position comes before its "readyok".
        engine.get_ready(thinking.wait, client.position(variant.fen, self.played(turn)))
        engine.process.send(go(engine_clock(turn), turn.seat))

        def decide(message: object) -> Any | None:
            if not isinstance(message, BestMove):
                return None
            if not message.move:
                raise EngineError(
                    f"{client.name} says that it has no move, but {turn.legal_text[0]} is "
                    f"legal. Check that it plays {turn.game.spec} by our rules."
                )
            return variant.action(turn.state, message.move, client.name)

        def consider(info: Info) -> None:
            thinking.consider(
                variant,
                client.name,
                info.pv[0],
                value=value_of(info),
                depth=info.depth,
                nodes=info.nodes,
                pv=_legal_start(turn, info.pv),
            )

        return thinking.answer(
            engine.process,
            client.receive,
            decide,
            thought=Info,
            consider=consider,
            stop=["stop"],
        )


def _legal_start(turn: Turn, moves: Sequence[str]) -> list[str]:
    """Return the moves of a line up to the first that is none."""
    state, line = turn.state, list[str]()
    for move in moves[:8]:
        if state.to_move < 0:
            break
        try:
            action = turn.game.parse(state, move)
        except Exception:  # whatever an engine writes, it is only shown
            break
        line.append(turn.game.format(state, action))
        state = state.after(action)
    return line
