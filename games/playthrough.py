"""One whole play as text, for golden files: a change of rules or views shows as a diff."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, Game, State
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.scene_text import render_text

__all__ = ["golden_files", "playthrough", "write_golden_files"]

VARIANTS = {
    "battleship-small.txt": 'battleship(columns=4,fleet="3,2,1",rows=5)',
    "coin_guess-bag.txt": "coin_guess(variant=bag)",
    "connect_four-small.txt": "connect_four(columns=5,rows=4)",
    "einstein-free.txt": "einstein(placement=free)",
    "kuhn_poker-3.txt": "kuhn_poker(seats=3)",
    "liars_dice-3.txt": "liars_dice(dice=2,seats=3,wild=highest)",
    "monopoly-4.txt": "monopoly(rounds=3,seats=4)",
    "pacman-duel.txt": "pacman(layout=duel,steps=60)",
    "pig-3.txt": "pig(seats=3,target=20)",
    "prisoners_dilemma-3.txt": "prisoners_dilemma(rounds=3)",
    "texas_holdem-3.txt": 'texas_holdem(ante=1,hands=2,seats=3,stacks="30,20,40")',
}
"""Golden files beyond the one of every built-in game."""


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def _views(game: Game, state: State) -> list[str]:
    """Return each seat's and a spectator's view of a state, as lines."""
    lines: list[str] = []
    for viewer in (*range(game.seats), None):
        name = "spectator" if viewer is None else f"seat {viewer}"
        observation = game.observe(state, viewer)
        lines.append(f"  {name} observes {observation.fields()!r}")
        if viewer is not None:
            lines.append(f"  {name} knows {game.information_state(state, viewer)!r}")
        lines.append(_indented(render_text(game.scene(observation))))
    return lines


def playthrough(game: Game, seed: int = 0, views_until: int = 12) -> str:
    """Return a random play in all detail: positions, actions, and what everybody sees.

    Views are written for the first ``views_until`` steps and for the end.
    """
    rng = random.Random(seed)
    state = game.initial_state()
    lines = [f"game {game.spec}", f"seats {game.seats}", f"seed {seed}"]
    step = 0
    while True:
        lines.append("")
        lines.append(f"step {step}, to move {state.to_move}")
        lines.append(_indented(game.describe(state)))
        if step < views_until or state.to_move == TERMINAL:
            lines += _views(game, state)
        if state.to_move == TERMINAL:
            lines.append(f"returns {state.returns()!r}")
            return "\n".join(lines) + "\n"
        action: Any
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            chances = [f"{game.format_chance(state, o)} {p:.6g}" for o, p in outcomes]
            lines.append(f"outcomes {', '.join(chances)}")
            action = outcomes[int(rng.random() * len(outcomes))][0]
            text = game.format_chance(state, action)
        else:
            actions = state.actions()
            lines.append("legal " + ", ".join(game.format(state, a) for a in actions))
            action = actions[int(rng.random() * len(actions))]
            text = game.format(state, action)
        seen = [game.visible(state, action, viewer) for viewer in (*range(game.seats), None)]
        lines.append(f"action {text}, seen as {seen!r}")
        state = state.after(action)
        step += 1


def golden_files() -> dict[str, str]:
    """File names and texts: a play of every built-in game and of some variants."""
    specs = {f"{name}.txt": name for name in BUILT_IN} | VARIANTS
    return {name: playthrough(get_game(spec), seed=1) for name, spec in sorted(specs.items())}


def write_golden_files(folder: str | Path) -> tuple[str, ...]:
    """Write them all into a folder; returns their names."""
    files = golden_files()
    for name, text in files.items():
        Path(folder, name).write_text(text, encoding="utf-8")
    return tuple(files)
