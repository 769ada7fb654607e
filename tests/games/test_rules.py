"""Rules in words, and how people enter actions, for every built-in game."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.games.observation_fields import observation_fields
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.rules import input_hints, rules_blocks, rules_text, rules_without_summary


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_game_has_rules_and_a_way_to_enter_actions(name: str) -> None:
    game = get_game(name)
    blocks = rules_blocks(rules_without_summary(game))
    assert blocks
    # A backtick that is left over would be shown.
    assert not any("`" in span for block in blocks for span in block.spans)
    assert input_hints(game)


def test_rules_leave_out_a_first_sentence_that_is_the_summary() -> None:
    game = get_game("pig")
    assert rules_text(game).startswith("Pig: roll a die")
    assert rules_without_summary(get_game("connect_four")).startswith("The first player")


def test_rules_are_read_while_another_thread_reads_some() -> None:
    """The collection of garbage within one parse lets the other thread begin."""
    begun, read = threading.Event(), threading.Event()

    def pause(phase: str, _: object) -> None:
        if phase == "start" and not begun.is_set() and threading.current_thread() is first:
            begun.set()
            read.wait(0.2)

    def read_first() -> None:
        texts.append(rules_text(get_game("monopoly")))

    texts: list[str] = []
    first = threading.Thread(target=read_first)
    threshold = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(50)
    try:
        first.start()
        assert begun.wait(PATIENCE)
        texts.append(rules_text(get_game("hearts")))
        read.set()
        first.join()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(pause)
    assert len(texts) == 2


def test_definitions_have_their_term() -> None:
    terms = [block.term for block in rules_blocks(rules_text(get_game("coin_guess")))]
    assert [term for term in terms if term] == ["variant=adversary", "variant=bag"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chess", ["what you want to move"]),
        ("battleship", ["let chance place all", "a spot"]),
        ("go", ["a spot", "button"]),
        ("coins", ["one of the coins"]),
        ("hearts", ["one of the cards"]),
        ("liars_dice", ["button"]),
        ("scrabble", ["to its square", "button"]),
        ("pig", ["button", "r, h"]),
    ],
)
def test_hints_name_the_ways_that_a_game_offers(name: str, words: list[str]) -> None:
    hints = input_hints(get_game(name))
    assert len(hints) == len(words)
    assert all(word in hint for word, hint in zip(words, hints, strict=True))


def test_file_with_a_byte_order_mark_keeps_its_rules_and_fields(tmp_path: Path) -> None:
    chomp = Path(__file__).resolve().parents[2] / "examples" / "chomp.py"
    marked = tmp_path / "marked.py"
    marked.write_text(chomp.read_text("utf-8"), "utf-8-sig")
    plain, same = (get_game(str(each), files=True) for each in (chomp, marked))
    assert rules_text(same) == rules_text(plain)
    assert observation_fields(same) == observation_fields(plain)
