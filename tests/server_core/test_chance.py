"""Chance: the published scheme, its distribution, and who shares it."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.server.match.chance import (
    SHARED_STREAM,
    Chance,
    commitment,
    match_stream,
    normal_nonce,
    select,
)

SEED = bytes(range(32))
DIE = tuple((face, 1 / 6) for face in range(1, 7))


def test_the_commitment_is_the_hash_of_the_seed() -> None:
    assert commitment(SEED) == hashlib.sha256(SEED).hexdigest()


def test_a_draw_can_be_recomputed_from_the_published_text() -> None:
    chance = Chance(SEED, "match:m1", ["00ff", ""])
    message = b"plyhouse-chance-1|match:m1|00ff,|7"
    assert chance.message(7).encode() == message
    number = int.from_bytes(hmac.digest(SEED, message, "sha256")[:8], "big") >> 11
    assert chance.uniform(7) == number / 2**53
    assert chance.draw(7, DIE) == int(number / 2**53 * 6) + 1


def test_known_draws_never_change() -> None:
    rolls = [Chance(SEED, SHARED_STREAM).draw(n, DIE) for n in range(20)]
    assert rolls == KNOWN


def test_a_shared_stream_has_the_same_dice_whatever_the_nonces() -> None:
    one, other = Chance(SEED, SHARED_STREAM, ["aa"]), Chance(SEED, SHARED_STREAM, ["bb"])
    assert [one.uniform(n) for n in range(9)] == [other.uniform(n) for n in range(9)]


def test_streams_nonces_and_seeds_all_change_the_dice() -> None:
    made = {
        Chance(seed, stream, nonces).uniform(0)
        for seed in (SEED, SEED[::-1])
        for stream in (match_stream("a"), match_stream("b"))
        for nonces in (("00", "01"), ("01", "00"))
    }
    assert len(made) == 8


def test_dice_are_fair() -> None:
    chance = Chance(SEED, match_stream("x"))
    counts = [0] * 7
    for n in range(12_000):
        counts[chance.draw(n, DIE)] += 1
    chi_square = sum((count - 2000) ** 2 / 2000 for count in counts[1:])
    assert chi_square < 20.5, counts  # the 99.9 % quantile with 5 degrees of freedom


@pytest.mark.parametrize(
    ("u", "chosen"), [(0.0, "b"), (0.25, "c"), (0.2499, "b"), (0.75, "c"), (1 - 2**-53, "c")]
)
def test_the_interval_decides_and_the_impossible_never_happens(u: float, chosen: str) -> None:
    assert select(u, [("a", 0.0), ("b", 0.25), ("c", 0.75), ("d", 0.0)]) == chosen


def test_a_sum_that_rounds_below_one_gives_the_last_possible_outcome() -> None:
    assert select(1 - 2**-53, [("a", 0.1)] * 9 + [("z", 0.05), ("n", 0.0)]) == "z"


def test_a_node_without_outcomes_is_refused() -> None:
    with pytest.raises(ValueError, match="probability above zero"):
        select(0.5, [("a", 0.0)])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1, exclude_max=True))
def test_only_possible_outcomes_are_chosen(weights: list[float], u: float) -> None:
    total = sum(weights)
    if total > 1e-6:
        outcomes = [(n, weight / total) for n, weight in enumerate(weights)]
        assert outcomes[select(u, outcomes)][1] > 0


def test_nonces_are_normalised_or_refused() -> None:
    assert normal_nonce("00FF") == "00ff"
    for wrong in ("0", "xx", "00" * 33, "00\n"):
        with pytest.raises(ValueError, match="hex"):
            normal_nonce(wrong)


def test_the_name_of_a_stream_cannot_forge_a_message() -> None:
    with pytest.raises(ValueError, match="stream"):
        Chance(SEED, "a|b")


KNOWN = [1, 2, 5, 5, 5, 4, 2, 4, 3, 6, 3, 2, 3, 3, 2, 1, 4, 2, 1, 3]
