"""Tabular policies: what they say, what a file of them holds, and what is refused."""

from __future__ import annotations

import dataclasses
import enum
import json
import random
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games import Game, get_game
from plyhouse.search import TabularPolicy, best_response, cfr_plus, exploitability, load_policy
from plyhouse.search.equilibria.tabular import (
    PolicyDamaged,
    PolicyError,
    PolicyMismatch,
    PolicyVersion,
    canonical_text,
)

KUHN = get_game("kuhn_poker")


@pytest.fixture(scope="module")
def solved() -> TabularPolicy:
    return cfr_plus(KUHN, iterations=200).policy


@pytest.fixture
def saved(solved: TabularPolicy, tmp_path: Path) -> Path:
    path = tmp_path / "kuhn.policy"
    solved.save(path, exploitability=0.01)
    return path


def deal(game: Game, *outcomes: Any) -> Any:
    state: Any = game.initial_state()
    for outcome in outcomes:
        state = state.after(outcome)
    return state


def test_a_saved_policy_comes_back(solved: TabularPolicy, saved: Path) -> None:
    loaded = load_policy(saved)
    assert loaded.table == solved.table
    assert loaded.game == KUHN
    assert (loaded.algorithm, loaded.iterations, loaded.exploitability) == ("cfr_plus", 200, 0.01)
    assert exploitability(KUHN, loaded) == exploitability(KUHN, solved)


def test_the_file_is_as_documented(saved: Path) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    assert document["format"] == "plyhouse.policy"
    assert document["version"] == 1
    assert document["game"] == "kuhn_poker"
    assert len(document["states"]) == 12
    assert set(document["states"]["[0,2,2,[],[null,null],-1]"]) == {"check", "bet"}


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "liars_dice(faces=3)"])
def test_a_bot_finds_its_row_by_what_it_was_sent(spec: str) -> None:
    game = get_game(spec)
    policy = cfr_plus(game, iterations=5).policy
    rng = random.Random(3)
    for _ in range(30):
        state: Any = game.initial_state()
        while state.to_move != -2:
            if state.to_move >= 0:
                observation = game.observe(state, state.to_move)
                for _ in range(3):
                    guess: Any = game.sample_state(observation, rng)
                    assert policy.covers(guess)
                    assert policy(guess) == policy(state)
                state = state.after(policy.choose(state, rng))
            else:
                state = state.after(rng.choice([move for move, _ in state.chance_outcomes()]))


def test_actions_are_drawn_by_their_probabilities() -> None:
    state = deal(KUHN, 0, 1)
    key = canonical_text(KUHN.information_state(state, 0))
    policy = TabularPolicy(KUHN, {key: {"check": 0.25, "bet": 0.75}})
    rng = random.Random(1)
    drawn = [policy.choose(state, rng) for _ in range(2000)]
    assert drawn.count(1) / 2000 == pytest.approx(0.75, abs=0.03)
    certain = TabularPolicy(KUHN, {key: {"check": 0.0, "bet": 1.0}})
    assert {certain.choose(state, rng) for _ in range(100)} == {1}


def test_what_is_not_in_the_table_is_uniform() -> None:
    policy = TabularPolicy(KUHN, {})
    state = deal(KUHN, 0, 1)
    assert policy(state) == ((0, 0.5), (1, 0.5))
    assert not policy.covers(state)
    with pytest.raises(ValueError, match="no seat is to move"):
        policy(KUHN.initial_state())


def test_a_best_response_is_a_policy_too(solved: TabularPolicy) -> None:
    uniform = TabularPolicy(KUHN, {})
    answer = best_response(KUHN, uniform, 1)
    mixed = {**uniform.table, **answer.policy.table}
    assert len(answer.policy) == 6
    gap = best_response(KUHN, TabularPolicy(KUHN, mixed), 1)
    assert gap.value == pytest.approx(answer.value)


# Files that cannot be used


def test_another_game_is_refused_by_name(saved: Path) -> None:
    with pytest.raises(PolicyMismatch) as caught:
        load_policy(saved, get_game("leduc_poker"))
    assert str(caught.value) == (
        "kuhn.policy is a policy for kuhn_poker, not for leduc_poker: "
        "`plyhouse solve 'leduc_poker'` makes one."
    )
    with pytest.raises(PolicyMismatch, match=r"not for kuhn_poker\(seats=3\)"):
        load_policy(saved, get_game("kuhn_poker(seats=3)"))


def test_another_version_is_refused(saved: Path) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**document, "version": 2}), encoding="utf-8")
    with pytest.raises(PolicyVersion, match="is of version 2, and this Plyhouse reads version 1"):
        load_policy(saved)
    # A field that a later version may add.
    saved.write_text(json.dumps({"format": "plyhouse.policy", "version": 7}), encoding="utf-8")
    with pytest.raises(PolicyVersion):
        load_policy(saved)


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_damaged(saved: Path, part: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(PolicyDamaged, match=r"kuhn.policy is damaged: .*solve the game again"):
        load_policy(saved)


def test_a_changed_number_is_noticed(saved: Path) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    row = document["states"]["[0,2,2,[],[null,null],-1]"]
    row["check"], row["bet"] = row["bet"], row["check"]
    saved.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(PolicyDamaged, match="do not have the digest"):
        load_policy(saved)


def test_missing_parts_are_damage(saved: Path) -> None:
    document = json.loads(saved.read_text(encoding="utf-8"))
    del document["states"]
    saved.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(PolicyDamaged, match="states"):
        load_policy(saved)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00\xff", b"[1, 2]", b'{"format": "x"}'])
def test_other_files_are_no_policies(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.txt"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"other\.txt is no policy file") as caught:
        load_policy(path)
    assert caught.value.code == "policy/unreadable"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_policy(tmp_path / "none.policy")


def test_a_policy_of_other_rules_is_noticed_when_it_is_asked() -> None:
    state = deal(KUHN, 0, 1)
    key = canonical_text(KUHN.information_state(state, 0))
    policy = TabularPolicy(KUHN, {key: {"check": 0.5, "raise": 0.5}})
    with pytest.raises(PolicyMismatch, match="chooses among check, raise where kuhn_poker has"):
        policy(state)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"check": 0.5, "bet": 0.6}, "the probabilities add up to 1.1, expected 1"),
        ({"check": -0.5, "bet": 1.5}, "the probability of check is -0.5, expected 0 to 1"),
        ({"check": float("nan"), "bet": 1.0}, "the probability of check is nan"),
        ({}, "add up to 0"),
    ],
)
def test_what_is_no_distribution_is_refused(shares: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TabularPolicy(KUHN, {"x": shares})


def test_a_failed_save_leaves_the_old_file(
    solved: TabularPolicy, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="disk is full"):
        solved.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["kuhn.policy"]


# The text of information states


class Suit(enum.Enum):
    CLUBS = 1


@dataclasses.dataclass(frozen=True)
class Seen:
    card: int
    bets: tuple[str, ...]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((0, None, "a,b", (1, -2)), '[0,null,"a,b",[1,-2]]'),
        ((True, 2.0, 0.5), "[1,2,0.5]"),
        (Seen(1, ("bet",)), 'Seen(1,["bet"])'),
        (Suit.CLUBS, "Suit.CLUBS"),
        (frozenset({"b", "a"}), '{"a","b"}'),
        (b"\x01\xff", "0x01ff"),
        (float("inf"), "inf"),
    ],
)
def test_canonical_text(key: Any, text: str) -> None:
    assert canonical_text(key) == text


def test_what_has_no_canonical_text_is_named() -> None:
    with pytest.raises(TypeError, match="an information state holds a object"):
        canonical_text((1, object()))
