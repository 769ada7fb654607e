"""``plyhouse review`` and ``plyhouse bot ask``: why a match was lost, and that ply once more."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.cli.conftest import CHOMP, Plyhouse

from plyhouse.clients.review.losses import Losses
from plyhouse.clients.review.recorded_position import moment_of
from plyhouse.clients.review.review import default_seat, review
from plyhouse.clients.shared.errors import CommandError
from plyhouse.games.base import CHANCE, Game
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.positions import Review, ValueLost
from plyhouse.protocol.messages import Outcome
from plyhouse.search import iterate_values
from plyhouse.server.match.time_control import LagPolicy
from plyhouse.server.results.intervals import interval_of_difference
from plyhouse.server.results.record import (
    RECORD_FORMAT,
    Record,
    RecordChance,
    RecordEvent,
    RecordSeat,
    write_record,
)

SECOND = 1_000_000_000


def recorded(
    spec: str, texts: str, *, end: str = "normal", at_fault: int | None = None
) -> tuple[Record, Game]:
    """The record of these actions (those of chance among them), each thought about for a second."""
    game = get_game(spec)
    position = Position(game)
    events = []
    for text in texts.split():
        seat, ply = position.mover, position.ply
        position.apply(seat, text)
        if seat == CHANCE:
            events.append(RecordEvent("chance", ply, seat, text))
        else:
            times = (SECOND, SECOND // 10, 0, SECOND - SECOND // 10, 10 * SECOND)
            events.append(RecordEvent("action", ply, seat, text, *times))
    returns = list(position.state.returns()) if position.mover == -2 else [1.0, 1.0]
    if at_fault is not None:
        returns[at_fault] = -1.0
    clocked = position.mover if position.mover >= 0 else -1
    who = -1 if at_fault is None else at_fault
    events.append(RecordEvent("end", position.ply, who, end, on_clock=clocked))
    seats = [RecordSeat("alice", "one"), RecordSeat("bob", "two")]
    record = Record(
        RECORD_FORMAT, "m1", "p1", game.spec, dict(game.parameters), "total:60", True, "forfeit",
        LagPolicy(), seats, RecordChance(1, "ab" * 32, "pairing", ["", ""]), events,
        Outcome(end, returns, at_fault),  # type: ignore[arg-type]
    )  # fmt: skip
    return record, game


SOLVING = 60.0
"""Seconds for games that are solved in one, as a busy machine may need many times as long."""


def reviewed(spec: str, texts: str, seat: int, seconds: float | None = None, **more: Any) -> Review:
    if seconds is None:
        seconds = 2.0 if spec == "connect_four" else SOLVING
    record, game = recorded(spec, texts, **more)
    return review(record, game, seat, seconds=seconds)


# ------------------------------------------------------------------------- what it says


def test_the_first_ply_after_which_a_solved_game_was_lost() -> None:
    found = reviewed("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2", 1)
    assert found.lost_at == 1, "an edge beside the centre loses; everything before was drawn"
    row = found.row(1)
    assert (row.action, row.played, row.best, row.certainty) == ("b1", -1.0, 0.0, "exact")
    assert row.best_action in {"a1", "c1", "a3", "c3"}
    assert "The value was lost at ply 2: b1 is worth 0 % (lost)" in found.verdict
    assert found.losses == (1,), "what is lost cannot be lost again"
    assert found.command == "plyhouse bot ask mybot.py --ply 2"
    assert (row.thought_ms, row.lag_ms, row.charged_ms) == (1000.0, 100.0, 900.0)
    assert row.remaining_ms == 10_000.0


def test_who_won_lost_nothing() -> None:
    found = reviewed("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2", 0)
    assert (found.lost_at, found.losses, found.command) == (None, (), "")
    assert [row.ply for row in found.plies] == [0, 2, 4, 6]
    assert "No ply lost the value" in found.verdict


def test_a_win_that_the_search_proves_and_the_player_did_not_see() -> None:
    """Four in a column were there to be completed, and the other seat completed its own."""
    found = reviewed("connect_four", "4 1 4 1 4 1 7 1", 0)
    row = found.row(6)
    assert (row.best_action, row.best) == ("4", 1.0)
    assert row.played == -1.0
    assert row.lost
    assert 6 in found.losses


def test_dice_are_judged_by_what_could_be_expected_not_by_what_fell() -> None:
    """The roll that came up 1 is worth what it was worth before it fell."""
    spec = "pig(target=10)"
    found = reviewed(spec, "roll 6 roll 1 roll 5 hold roll 6 hold", 0)
    game = get_game(spec)
    state = game.initial_state()
    for text in ("roll", "6"):
        state = state.after(
            game.parse(state, text) if state.to_move >= 0 else game.parse_chance(state, text)
        )
    values = iterate_values(game).values(state)  # another algorithm than the judge's
    row = found.row(1)
    assert row.certainty == "exact"
    assert row.played == pytest.approx(values[game.parse(state, "roll")], abs=1e-6)
    assert row.best == pytest.approx(max(values.values()), abs=1e-6)


def test_hidden_cards_are_judged_by_what_the_seat_knew() -> None:
    """Folding the king cannot be right, nor calling with a jack, against any card."""
    found = reviewed("kuhn_poker", "J K bet fold", 1)
    (row,) = found.plies
    assert row.best_action == "call"
    assert row.lost
    assert row.played == pytest.approx(-1.0)
    assert row.best == pytest.approx(2.0, abs=0.01)
    assert row.certainty.startswith("equilibrium within")
    knew_nothing = reviewed("kuhn_poker", "Q J bet fold", 1)
    other = reviewed("kuhn_poker", "K J bet fold", 1)
    assert knew_nothing.plies[0].best == pytest.approx(other.plies[0].best), "it saw the same"


def test_large_games_are_sampled_and_say_so() -> None:
    found = reviewed("liars_dice(dice=2)", "1 2 3 4 1x6 liar", 1, seconds=0.5)
    assert re.match(r"sampled [\d,]+", found.plies[0].certainty)
    assert not found.plies[0].exact


@pytest.mark.parametrize(
    ("spec", "texts", "seat"),
    [
        ("chess", "f2f3 e7e5 g2g4 d8h4", 0),
        ("tic_tac_toe", "b2 b1 a1", 1),
    ],
)
def test_however_little_time_there_is_no_value_rests_on_nothing(
    spec: str, texts: str, seat: int
) -> None:
    found = reviewed(spec, texts, seat, seconds=0.001)
    assert found.plies
    assert not any(row.certainty == "depth 0" for row in found.plies)


def test_a_flag_is_told_with_what_the_position_was_worth() -> None:
    found = reviewed("tic_tac_toe", "b2 b1 a1", 1, end="flag_fall", at_fault=1)
    assert found.at_fault
    assert found.plies[-1].action == ""
    assert "flag fall at ply 4, in a position worth 0 % (lost)" in found.verdict


def test_the_seat_that_lost_is_looked_at() -> None:
    record, _ = recorded("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
    assert default_seat(record) == 1


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asserted by what the judge is given, not by the machine's clock."""
    from plyhouse.clients.review import review as module
    from plyhouse.clients.review.judges import Judgement

    shares: list[float] = []
    now = 0.0

    class Slow:
        method = "slow"

        def judge(self, state: Any, action: Any, seconds: float) -> Judgement:
            nonlocal now
            shares.append(seconds)
            now += seconds / 2  # the rest is for the others
            return Judgement(action, 0.0, 0.0, "depth 1", False)

    monkeypatch.setattr(module, "judge_for", lambda game, seconds: Slow())
    record, game = recorded("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
    review(record, game, 0, seconds=8.0, clock=lambda: now)
    assert now <= 8.0
    assert shares == sorted(shares), "what is saved goes to the plies before"


def test_a_record_of_other_rules_is_refused() -> None:
    record, _ = recorded("tic_tac_toe", "b2 b1")
    with pytest.raises(CommandError, match="cannot be played again"):
        review(record, get_game("connect_four"), 0, seconds=1.0)


# ---------------------------------------------------------------------- asking once more


def test_a_seat_is_told_what_it_knew_and_not_more() -> None:
    record, game = recorded("kuhn_poker", "J K bet fold")
    moment = moment_of(record, game, 1)
    assert (moment.seat, moment.played) == (1, "fold")
    told = moment.snapshot
    assert [event.action for event in told.events] == [None, "K", "bet"]
    assert "J" not in json.dumps(told.observation)
    assert told.deadline_ms == 60_000, "the ledger of the other seat is not its own"
    with pytest.raises(CommandError, match="its plies are 1 to 2"):
        moment_of(record, game, 2)


def test_clocks_follow_from_the_ledgers() -> None:
    record, game = recorded("tic_tac_toe", "b2 b1 a1")
    snapshot = moment_of(record, game, 2).snapshot
    assert snapshot.deadline_ms == 59_100
    assert [clock.remaining_ms for clock in snapshot.clocks] == [59_100, 59_100]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    record, _ = recorded("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
    (tmp_path / "m.json").write_text(write_record(record))
    return tmp_path


BOT = """
import sys
from plyhouse.bots import Bot, Turn

class Mine(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn: Turn):
        print("seen", turn.ply, len(turn.history), f"{turn.clock.left:.1f}")
        print("to stderr", file=sys.stderr)
        if turn.ply == 5:
            raise RuntimeError("no idea")
        return turn.rng.choice(turn.legal) if turn.ply == 3 else "b1"
"""


def test_the_ply_that_lost_is_asked_again(plyhouse: Plyhouse, saved: Path) -> None:
    (saved / "mybot.py").write_text(BOT)
    done = plyhouse("review", "m.json")
    assert done.code == 0, done.err
    assert "match m1, bob/two as O (seat 2)" in done.out
    command = done.out.splitlines()[-1].removeprefix("Ask your bot again: plyhouse ")
    assert command == "bot ask mybot.py --record m.json --match m1 --ply 2"
    again = plyhouse(*command.split())
    assert again.code == 0, again.err
    assert "It chooses b1" in again.out
    assert "The same." in again.out
    assert "seen 1 1 60.0" in again.err
    assert "to stderr" in again.err


def test_a_seed_gives_the_same_choice_and_other_seeds_others(
    plyhouse: Plyhouse, saved: Path
) -> None:
    (saved / "mybot.py").write_text(BOT)

    def chosen(seed: str) -> dict[str, Any]:
        done = plyhouse(
            *("bot", "ask", "mybot.py", "--record", "m.json", "--match", "1", "--ply", "4"),
            *("--seed", seed, "--json"),
        )
        assert done.code == 0, done.err
        told: dict[str, Any] = json.loads(done.out)
        return told

    first = chosen("7")
    assert first["action"] == chosen("7")["action"]
    assert first["same"] == (first["action"] == "c3")
    assert first["output"][0].endswith("seen 3 3 59.1")


def test_a_bot_that_fails_there_shows_how(plyhouse: Plyhouse, saved: Path) -> None:
    (saved / "mybot.py").write_text(BOT)
    ask = ("bot", "ask", "mybot.py", "--record", "m.json", "--match", "m1", "--ply", "6")
    done = plyhouse(*ask, traceback=True)
    assert done.code == 1
    assert "RuntimeError: no idea" in done.out
    assert 'mybot.py", line' in done.out


def test_own_games_are_reviewed_and_asked_about(
    plyhouse: Plyhouse, chomp_matches: Path, tmp_path: Path
) -> None:
    shutil.copy(CHOMP, tmp_path / "chomp.py")
    shutil.copy(chomp_matches, tmp_path / "c.jsonl")
    refused = plyhouse("review", "c.jsonl")
    assert refused.code == 2
    assert "--game-files" in refused.err
    done = plyhouse("review", "c.jsonl", "--game-files", "chomp.py", "--seconds", "1", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    ply = found["plies"][-1]["ply"]
    asked = plyhouse(
        *("bot", "ask", "random", "--record", "c.jsonl", "--match", "1", "--ply", str(ply + 1)),
        *("--game-files", "chomp.py"),
    )
    assert asked.code == 0, asked.err
    assert "It chooses" in asked.out


def test_what_cannot_be_is_said(plyhouse: Plyhouse, saved: Path) -> None:
    seat = plyhouse("review", "m.json", "--seat", "3")
    assert (seat.code, "seats 1 to 2" in seat.err) == (2, True)
    ask = ("bot", "ask", "random", "--record", "m.json", "--match", "m1")
    ply = plyhouse(*ask, "--ply", "9")
    assert (ply.code, "its plies are 1 to 7" in ply.err) == (2, True)
    assert plyhouse("bot", "ask", "nobot", *ask[3:], "--ply", "1").code == 2


# -------------------------------------------------------------- what a bot loses per ply


def lost(texts: Sequence[str], bot: str = "alice/one", spec: str = "tic_tac_toe") -> ValueLost:
    records = [recorded(spec, each)[0] for each in texts]
    losses = Losses(bot, lambda record: get_game(record.game), seconds=SOLVING)
    losses.add(records)
    (found,) = losses.found()
    return found


WON = "b2 b1 a1 c3 a3 c1 a2"
"""Bob loses a draw by his first ply; alice makes no error."""
DRAWN = "b2 a1 c3 c1 b1 b3 a3 c2 a2"


def test_perfect_play_loses_nothing_and_one_error_counts_once() -> None:
    assert (lost([WON, DRAWN]).mean, lost([DRAWN], "bob/two").mean) == (0.0, 0.0)
    found = lost([WON, DRAWN], "bob/two")
    assert (found.matches, found.plies, found.exact, found.unjudged) == (2, 7, 7, 0)
    assert found.mean == pytest.approx(1 / 7), "one lost point in seven plies"
    assert found.interval is not None
    assert 0.0 <= found.interval[0] < 1 / 7 < found.interval[1] <= found.range == 2.0


def test_interval_is_over_matches_and_shrinks_with_their_number() -> None:
    few, many = lost([WON, DRAWN], "bob/two"), lost([WON, DRAWN] * 8, "bob/two")
    assert many.mean == pytest.approx(few.mean)
    assert few.interval is not None
    assert many.interval is not None
    assert many.interval[1] - many.interval[0] < (few.interval[1] - few.interval[0]) / 2


def test_a_person_is_found_by_the_address_of_their_page() -> None:
    record = recorded("tic_tac_toe", DRAWN)[0]
    alone = structs.replace(record, seats=[RecordSeat("Alice"), record.seats[1]])
    for bot in ("alice/alice", "alice"):
        losses = Losses(bot, lambda record: get_game(record.game), seconds=SOLVING)
        losses.add([alone])
        assert [each.matches for each in losses.found()] == [1], bot


def test_a_variant_is_compared_with_the_usual_game() -> None:
    """Alice wins the usual game without an error, and gives away a win in each of the others."""
    perfect = recorded("nim", "1:2 2:4 3:4 1:1 3:1")[0]
    lost_win = recorded('nim(heaps="2,1")', "1:2 2:1")[0]
    kept_win = recorded('nim(heaps="2,1")', "1:1 1:1 2:1")[0]
    losses = Losses("alice/one", lambda record: get_game(record.game), seconds=SOLVING)
    losses.add([perfect, perfect, lost_win, lost_win, kept_win])
    usual, variant = losses.found()
    assert (usual.mean, usual.more, usual.more_interval) == (0.0, None, None)
    assert variant.mean == variant.more == pytest.approx(4 / 4), "two wins lost in four plies"
    assert variant.more_interval is not None
    assert variant.more_interval[0] < 1.0 < variant.more_interval[1]


def test_renamed_variant_is_compared_with_the_same_game_under_its_usual_names() -> None:
    """Alice wins by heart, and loses a draw where the squares have other names."""
    other = get_game("tic_tac_toe(renamed=7)")
    texts = " ".join(other.other(each) for each in WON.split())  # type: ignore[attr-defined]
    assert texts != WON
    records = [
        *[recorded("tic_tac_toe", DRAWN)[0]] * 2,
        *[recorded("tic_tac_toe(renamed=7)", texts)[0]] * 3,
        recorded("tic_tac_toe(renamed=8)", DRAWN_BY_8)[0],
    ]
    losses = Losses("bob/two", lambda record: get_game(record.game), seconds=SOLVING)
    losses.add(records)
    usual, seven, eight = losses.found()
    assert (usual.mean, usual.more) == (0.0, None)
    assert seven.game == "tic_tac_toe(renamed=7)"
    assert seven.more == pytest.approx(1 / 3), "one lost draw in each three plies"
    assert (eight.exact, eight.more) == (4, 0.0)


DRAWN_BY_8 = " ".join(
    get_game("tic_tac_toe(renamed=8)").other(each)  # type: ignore[attr-defined]
    for each in DRAWN.split()
)


def test_interval_of_a_difference_is_welchs() -> None:
    one, other = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9], [27.1, 22.0, 20.8, 23.4]
    found = interval_of_difference(one, other)
    # Its degrees of freedom are 7.94; the table of t has 2.3646 for 7.
    assert found.mean == pytest.approx(-2.325)
    assert (found.low, found.high) == pytest.approx((-7.3334, 2.6834), abs=2e-4)
    assert math.isinf(interval_of_difference([1.0], other).high)


def test_a_bot_that_plays_itself_is_judged_in_both_seats() -> None:
    record, _ = recorded("tic_tac_toe", WON)
    mirrored = structs.replace(record, seats=[RecordSeat("alice", "one")] * 2)
    losses = Losses("Alice/One", lambda record: get_game(record.game), seconds=SOLVING)
    losses.add([mirrored, structs.replace(record, outcome=None)])
    (found,) = losses.found()
    assert (found.matches, found.plies) == (2, 7)


def test_matches_of_a_bot_are_summed_up_from_a_file(plyhouse: Plyhouse, tmp_path: Path) -> None:
    file = str(tmp_path / "matches.jsonl")
    played = ("match", "random", "minimax", "--game", "tic_tac_toe", "--games", "6", "--seed", "3")
    assert plyhouse(*played, "--save", file).code == 0
    done = plyhouse("review", file, "--bot", "local/random", "--seconds", "60")
    assert done.code == 0, done.err
    (line,) = [each for each in done.out.splitlines() if each.startswith("tic_tac_toe")]
    assert line.split()[1] == "6"
    done = plyhouse("review", file, "--bot", "local/minimax", "--seconds", "60", "--json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["games"]
    assert (found["mean"], found["matches"], found["faults"]) == (0.0, 6, {})
    done = plyhouse("review", file, "--bot", "local/nobody")
    assert done.code == 1
    assert "local/nobody; there are some of local/minimax, local/random" in done.err
    done = plyhouse("review", file, "--bot", "local/random", "--seat", "2")
    assert (done.code, "all matches and seats" in done.err) == (2, True)
    done = plyhouse("review", file, "--bot", "local/random", "--threshold", "0.2")
    assert (done.code, "takes no --threshold" in done.err) == (2, True)
    done = plyhouse("review")
    assert (done.code, "--bot PLAYER/BOT" in done.err) == (2, True)
