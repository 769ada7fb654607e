"""``scrabble``: Scrabble by points, by points and tiles kept, or by simulation.

``scrabble(method=greedy)`` makes the play of most points.  ``scrabble(method=leave)`` adds what the
tiles that it keeps are worth (`plyhouse.games.hidden.scrabble.leaves`).  Without an option the bot
takes the best plays by that, and simulates each against random racks of the others
(`plyhouse.games.hidden.scrabble.simulation`), with the same racks for all plays.

Where plays may be challenged, the bot lays only words of the list, and challenges any other word.
"""

from __future__ import annotations

import random
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.hidden.scrabble.leaves import ranked
from plyhouse.games.hidden.scrabble.simulation import simulated

__all__ = ["ScrabbleBot"]

METHODS: Final = ("simulation", "leave", "greedy")
CANDIDATES: Final = 12
"""Plays that are simulated."""
LEAST: Final = 8
"""Simulations of each candidate after which the worse half is dropped."""
MOST: Final = 400
"""Simulations of a candidate at most."""


class ScrabbleBot(Bot):
    """Plays Scrabble; ``simulations`` bounds the simulations of each candidate."""

    name = "scrabble"
    games = ("scrabble",)

    def __init__(self, method: str = "simulation", simulations: int = MOST) -> None:
        if method not in METHODS:
            raise ValueError(f"method={method} is unknown: choose one of {', '.join(METHODS)}.")
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not positive.")
        self.method = method
        self.simulations = simulations

    def choose(self, turn: Turn) -> Any:
        """Return the action of the method."""
        game: Any = turn.game
        state = game.sample_state(turn.observation, turn.rng)
        if state.laid:
            return state.answer()
        if self.method == "greedy":
            texts = state.plays(True).texts
            return texts[-1] if texts else ranked(state, 1)[0][2]
        candidates = ranked(state, CANDIDATES)
        if self.method == "leave" or len(candidates) == 1:
            return candidates[0][2]
        turn.report(candidates[0][2])
        return self.simulate(turn, [text for _, _, text in candidates])

    def simulate(self, turn: Turn, texts: list[str]) -> str:
        """Return the candidate with the best mean; half of them go on after each stage."""
        game: Any = turn.game
        limit = turn.limit
        end = None if limit.time is None else limit.clock() + int(limit.time * 1e9)
        sums = dict.fromkeys(texts, 0.0)
        done = 0
        stage = LEAST
        while len(sums) > 1 and done < self.simulations:
            if end is not None and limit.clock() >= end:
                break
            state = game.sample_state(turn.observation, turn.rng)
            seed = turn.rng.getrandbits(32)
            for text in sums:
                sums[text] += simulated(state, text, random.Random(seed))
            done += 1
            if done == stage:
                stage *= 2
                order = sorted(sums, key=sums.__getitem__, reverse=True)
                for text in order[max(2, (len(order) + 1) // 2) :]:
                    del sums[text]
                turn.report(order[0])
        return max(sums, key=sums.__getitem__)
