"""Retrograde analysis against minimax, published results, and its own laws."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Utility,
)
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.games.scene import Scene
from plyhouse.search import Limit, alpha_beta, retrograde, solve
from plyhouse.search.files import position_hash
from plyhouse.search.tables.endgame_table import EndgameTable, Entry, NotInTable
from plyhouse.search.tables.retrograde import PositionTable, TooManyPositions
from plyhouse.search.tables.table_file import InvalidTable


def reachable(start: Any) -> Iterator[Any]:
    """Every state that is not over, once per key."""
    seen = {start.key()}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        yield state
        for action in state.actions():
            child = state.after(action)
            if child.to_move != TERMINAL and child.key() not in seen:
                seen.add(child.key())
                waiting.append(child)


def forward(state: Any, memory: dict[Any, Entry]) -> Entry:
    """Value for the mover and distance by looking ahead, for games without circles."""
    key = state.key()
    if key not in memory:
        options = []
        for action in state.actions():
            child = state.after(action)
            if child.to_move == TERMINAL:
                value = float(child.returns()[state.to_move])
                options.append(Entry(value, 0 if value else None))
            else:
                value, distance = forward(child, memory)
                options.append(Entry(value if child.to_move == state.to_move else -value, distance))
        best = max(value for value, _ in options)
        distances = [distance for value, distance in options if value == best]
        if best == 0:
            memory[key] = Entry(0.0, None)
        else:
            choose = min if best > 0 else max
            memory[key] = Entry(best, 1 + choose(d for d in distances if d is not None))
    return memory[key]


def check_laws(table: EndgameTable, state: Any) -> None:
    """Every entry follows from those of the successors."""
    value, distance = table.probe(state)
    after = table.values(state).values()
    best = max(entry.value for entry in after)
    assert value == best
    if distance is None:
        assert value == 0
        assert any(entry.distance is None for entry in after)
    elif value > 0:
        assert distance == min(e.distance for e in after if e.value > 0 and e.distance is not None)
    else:
        assert all(entry.value < 0 for entry in after)
        assert distance == max(e.distance for e in after if e.distance is not None)


@pytest.mark.parametrize(
    "spec",
    [
        "hexapawn",
        "hexapawn(size=4)",
        "coins(coins=40)",
        "coins(coins=30,max_take=4,misere=false)",
        'nim(heaps="3,4,5")',
        "tic_tac_toe",
        "connect_four(columns=3,rows=4,connect=3)",
    ],
)
def test_every_position_has_the_value_and_distance_of_looking_ahead(spec: str) -> None:
    game = get_game(spec)
    table = solve(game)
    memory: dict[Any, Entry] = {}
    positions = list(reachable(game.initial_state()))
    assert len(table) == len(positions)
    for state in positions:
        assert table.probe(state) == forward(state, memory)


@pytest.mark.parametrize("spec", ["breakthrough(size=4)", "kalah(houses=2,seeds=2)"])
def test_endgames_of_larger_games_agree_with_looking_ahead(spec: str) -> None:
    game = get_game(spec)
    rng = random.Random(1)
    tried = 0
    while tried < 2000:
        state: Any = game.initial_state()
        line = []
        while state.to_move != TERMINAL:
            line.append(state)
            state = state.after(rng.choice(state.actions()))
        for start in line:  # as far from the end as the size of the table allows
            try:
                table = solve(game, [start], most=3000)
            except TooManyPositions:
                continue
            memory: dict[Any, Entry] = {}
            for position in reachable(start):
                assert table.probe(position) == forward(position, memory)
                check_laws(table, position)
            tried += len(table)
            break


def test_the_winner_of_hexapawn_depends_on_the_size() -> None:
    for size, winner in ((3, 1), (4, 0)):
        game = get_game(f"hexapawn(size={size})")
        value = solve(game).probe(game.initial_state()).value
        assert value == (1.0 if winner == 0 else -1.0)


def test_coins_are_lost_exactly_when_one_remains_of_three() -> None:
    game: Any = get_game("coins(coins=100)")
    table = solve(game)
    for state in reachable(game.initial_state()):
        assert (table.probe(state).value < 0) == (state.coins % 3 == 1)


@pytest.mark.parametrize("misere", [False, True])
def test_nim_follows_bouton(misere: bool) -> None:
    game = get_game(f'nim(heaps="5,5,5",misere={str(misere).lower()})')
    table = solve(game)
    for state in reachable(game.initial_state()):
        heaps = state.heaps
        total = heaps[0] ^ heaps[1] ^ heaps[2]
        lost = total == 0
        if misere and max(heaps) < 2:
            lost = not lost
        assert (table.probe(state).value < 0) == lost


class Walk:
    """A token on a graph with circles; the seats move in turn, or as the graph says."""

    __slots__ = ("graph", "node", "to_move")

    def __init__(self, graph: list[Any], node: int, to_move: int) -> None:
        self.graph = graph
        self.node = node
        self.to_move = to_move if isinstance(graph[node], tuple) else TERMINAL

    def actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.graph[self.node]))) if self.to_move >= 0 else ()

    def after(self, action: int) -> Walk:
        target, again = self.graph[self.node][action]
        return Walk(self.graph, target, self.to_move if again else 1 - self.to_move)

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        return ()

    def returns(self) -> tuple[float, float]:
        value = self.graph[self.node]
        return (value, -value)

    def key(self) -> tuple[int, int]:
        return (self.node, self.to_move)


class WalkGame(Game):
    info: ClassVar[GameInfo] = GameInfo(
        name="walk",
        title="Walk",
        summary="A token on a graph.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-2.0,
        max_return=2.0,
        max_plies=1000,
    )
    observation_type: ClassVar[type[Observation]] = Observation

    def initial_state(self) -> Walk:
        return Walk([0.0], 0, 0)

    def observe(self, state: Any, seat: int | None) -> Observation:
        return Observation(seat, state.to_move, ())

    def sample_state(self, observation: Observation, rng: random.Random) -> Walk:
        return self.initial_state()

    def scene(self, observation: Observation) -> Scene:
        return Scene((), "", None)

    def describe(self, state: Any) -> str:
        return f"node {state.node}"


def random_graph(seed: int) -> list[Any]:
    rng = random.Random(seed)
    size = rng.randint(5, 30)
    graph: list[Any] = [rng.choice((-2.0, 0.0, 2.0)) for _ in range(3)]
    for _ in range(size):
        degree = rng.randint(1, 4)
        graph.append(tuple((rng.randrange(size + 3), rng.random() < 0.25) for _ in range(degree)))
    return graph


def within(graph: list[Any], plies: int) -> dict[tuple[int, int], tuple[float, int]]:
    """Return the certain winner within some plies, and the plies needed: by definition."""
    live = [(n, seat) for n in range(len(graph)) if isinstance(graph[n], tuple) for seat in (0, 1)]
    ends = {(n, TERMINAL): (v, 0) for n, v in enumerate(graph) if not isinstance(v, tuple) and v}
    known = dict(ends)
    for count in range(1, plies + 1):
        new = dict(ends)
        for node, seat in live:
            state = Walk(graph, node, seat)
            children = [state.after(action) for action in state.actions()]
            answers = [known.get((child.node, child.to_move)) for child in children]
            sign = 1.0 if seat == 0 else -1.0
            if any(answer is not None and answer[0] * sign > 0 for answer in answers):
                new[node, seat] = (2.0 * sign, count)
            elif all(answer is not None for answer in answers):
                new[node, seat] = (-2.0 * sign, count)
        for name, (value, _) in known.items():
            new[name] = (value, known[name][1])
        known = new
    return known


@pytest.mark.parametrize("seed", range(25))
def test_circles_are_draws_and_wins_the_shortest(seed: int) -> None:
    graph = random_graph(seed)
    live = [(n, seat) for n in range(3, len(graph)) for seat in (0, 1)]
    table = solve(WalkGame(), [Walk(graph, node, seat) for node, seat in live])
    known = within(graph, 2 * len(graph))
    assert len(table) == len(live)
    for node, seat in live:
        state = Walk(graph, node, seat)
        expected = Entry(0.0, None)
        if (node, seat) in known:
            value, distance = known[node, seat]
            expected = Entry(value if seat == 0 else -value, distance)
        assert table.probe(state) == expected
        check_laws(table, state)


def test_the_search_plays_the_shortest_win_to_its_end() -> None:
    game = get_game("hexapawn(size=4)")
    result = retrograde(game, game.initial_state())
    assert (result.value, result.depth, result.exact) == (1.0, 11, True)
    state: Any = game.initial_state()
    for action in result.pv:
        state = state.after(action)
    assert state.to_move == TERMINAL
    assert state.returns()[0] == 1.0
    exact = {
        action: -alpha_beta(game, game.initial_state().after(action)).value
        for action in game.initial_state().actions()
    }
    assert dict(result.values) == exact


def test_a_seed_breaks_ties_repeatably() -> None:
    game = get_game("tic_tac_toe")
    table = solve(game)
    chosen = [
        retrograde(game, game.initial_state(), table=table, seed=seed).action for seed in range(20)
    ]
    again = [
        retrograde(game, game.initial_state(), table=table, seed=seed).action for seed in range(20)
    ]
    assert chosen == again
    assert len(set(chosen)) > 3


def test_alpha_beta_with_the_table_at_its_leaves_needs_no_depth() -> None:
    game = get_game("hexapawn(size=4)")
    table = solve(game)
    state: Any = game.initial_state()
    plies = 0
    while state.to_move != TERMINAL:
        best = retrograde(game, state, table=table)
        result = alpha_beta(game, state, Limit(depth=1), evaluate=table.evaluate())
        assert result.value == pytest.approx(best.value, abs=1e-4)
        chosen = table.values(state)[result.action]
        assert chosen == table.values(state)[best.action]
        state = state.after(result.action)
        plies += 1
    assert plies == 11


def test_outside_of_the_table_the_fallback_counts() -> None:
    game: Any = get_game("coins(coins=20)")
    start = game.initial_state()
    small = start
    while small.coins > 6:
        small = small.after(2)
    table = solve(game, [small])
    assert start not in table
    assert small in table
    evaluate = table.evaluate(lambda state, seat: 0.25 if seat == 0 else -0.25)
    assert evaluate(start, 1) == -0.25
    assert table.evaluate()(start, 0) == 0.0
    assert abs(evaluate(small, small.to_move)) > 0.99
    with pytest.raises(NotInTable, match="20 coins"):
        table.probe(start)


def test_a_table_is_the_same_after_being_saved(tmp_path: Path) -> None:
    game = get_game("hexapawn(size=4)")
    table = solve(game)
    path = tmp_path / "hexapawn.table"
    table.save(path)
    loaded = PositionTable.load(path, game)
    for state in reachable(game.initial_state()):
        assert loaded.probe(state) == table.probe(state)
    assert path.stat().st_size < 12 * len(table)
    assert [file.name for file in tmp_path.iterdir()] == ["hexapawn.table"]


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    game = get_game("hexapawn")
    path = tmp_path / "a.table"
    solve(game).save(path)
    content = path.read_bytes()
    with pytest.raises(InvalidTable, match=r"it is for hexapawn, not for hexapawn\(size=4\)"):
        PositionTable.load(path, get_game("hexapawn(size=4)"))
    for damaged in (content[:-3], content + b"x", content[:-20] + b"0" * 20):
        path.write_bytes(damaged)
        with pytest.raises(InvalidTable, match="checksum"):
            PositionTable.load(path, game)
    path.write_bytes(content.replace(b'"version": 1', b'"version": 9'))
    with pytest.raises(InvalidTable, match="it has version 9, this Plyhouse reads 1"):
        PositionTable.load(path, game)
    path.write_bytes(content.replace(b'"worth": 1.0', b'"worth": 7.0'))
    with pytest.raises(InvalidTable, match="checksum"):
        PositionTable.load(path, game)
    for other in (b"", b"hello\n", b"[1, 2]\n", b"{}\n", bytes(range(256))):
        path.write_bytes(other)
        with pytest.raises(InvalidTable, match="not a table of Plyhouse"):
            PositionTable.load(path, game)
    with pytest.raises(FileNotFoundError):
        PositionTable.load(tmp_path / "none.table", game)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = solve(get_game("hexapawn"))
    path = tmp_path / "a.table"
    path.write_text("old")

    def fail(self: Path, target: Path) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        table.save(path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_limits_and_misfits_are_told() -> None:
    game = get_game("connect_four")
    start = game.initial_state()
    with pytest.raises(TooManyPositions, match=r"connect_four has more than 1,000 positions"):
        solve(game, most=1000)
    with pytest.raises(TimeoutError, match="the limit was reached"):
        solve(game, limit=Limit(time=0.05))
    result = retrograde(game, start, Limit(time=0.05))
    assert (result.action, result.depth, result.exact) == (start.actions()[0], 0, False)
    with pytest.raises(GameMismatch, match="it has chance nodes"):
        solve(get_game("pig"))
    graph: list[Any] = [1.0, 2.0, ((0, False), (1, False))]
    with pytest.raises(GameMismatch, match="its returns differ in size"):
        solve(WalkGame(), [Walk(graph, 2, 0)])
    over = Walk([1.0], 0, 0)
    with pytest.raises(ValueError, match="all 1 starts are over"):
        solve(WalkGame(), [over])


def test_keys_that_differ_from_run_to_run_are_refused() -> None:
    assert position_hash((1, "a", (None, b"x", 2.5))) == position_hash((1, "a", (None, b"x", 2.5)))
    assert position_hash((1, 2)) != position_hash((12,))
    with pytest.raises(TypeError, match="numbers, texts, bytes and tuples"):
        position_hash((1, frozenset({"a"})))
