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
LOOKING: Final = 0.5
"""Part of a turn's time after which the bot looks for no further plays."""
PRIOR: Final = 30
"""Simulations that the value by points and leave weighs as much as: a simulation varies by about
30 points, that value is wrong by about 5."""
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
        turn.report(turn.some_action)
        if self.method == "greedy":
            texts = state.plays(True, turn.stopper()).texts
            return texts[-1] if texts else ranked(state, 1, turn.stopper())[0][2]
        candidates = ranked(state, CANDIDATES, turn.stopper(LOOKING))
        if self.method == "leave" or len(candidates) == 1:
            return candidates[0][2]
        turn.report(candidates[0][2])
        # With an empty bag nothing is drawn, and one simulation says as much as many.
        weight = PRIOR if state.bag_size() else 0
        return self.simulate(turn, {text: weight * value for value, _, text in candidates})

    def simulate(self, turn: Turn, sums: dict[str, float]) -> str:
        """Return the candidate with the greatest sum, to which each simulation adds its gain; half
        of them go on after each stage.
        """
        game: Any = turn.game
        most = min(self.simulations, turn.limit.simulations or self.simulations)
        stop = turn.stopper()
        done = 0
        stage = LEAST
        while len(sums) > 1 and done < most:
            state = game.sample_state(turn.observation, turn.rng)
            seed = turn.rng.getrandbits(32)
            gains = {text: simulated(state, text, random.Random(seed), stop) for text in sums}
            if stop():
                break  # some of these are cut short
            for text, gain in gains.items():
                sums[text] += gain
            done += 1
            if done == stage:
                stage *= 2
                order = sorted(sums, key=sums.__getitem__, reverse=True)
                for text in order[max(2, (len(order) + 1) // 2) :]:
                    del sums[text]
                turn.report(order[0])
        return max(sums, key=sums.__getitem__)
