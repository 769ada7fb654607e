"""A seat's view of its match: counts agree with the events, and say when to start over."""

from __future__ import annotations

from typing import Any

from tests.bots.conftest import played

from plyhouse.bots.running.history import History
from plyhouse.protocol.messages import Event


def test_the_counts_are_those_of_the_events() -> None:
    history = History(1)
    rolled = (Event(1, -1, "5"), Event(2, -1, "6"))
    for events in ((), played("roll", "roll", "hold"), rolled, played("roll")):
        history.extend(events)
        assert history.plies == sum(event.seat >= 0 for event in history.events)
        assert history.own == sum(event.seat == 1 for event in history.events)
    assert len(history.events) == 6


def test_more_of_the_same_goes_on_and_anything_else_does_not() -> None:
    history = History(0, played("4", "5"))
    assert history.is_start_of(played("4", "5"))
    assert history.is_start_of(played("4", "5", "6"))
    assert not history.is_start_of(played("4"))
    assert not history.is_start_of(played("4", "6", "6"))


def test_times_may_be_told_later_than_actions() -> None:
    assert History(0, [Event(0, 0, "4")]).is_start_of([Event(0, 0, "4", ms=12)])


def test_what_was_told_before_is_not_read_again() -> None:
    class Unread(list[Event]):
        def __iter__(self) -> Any:
            raise AssertionError("a turn's work grew with the match")

    history = History(0, played("4", "5"))
    history.events = Unread(history.events)
    history.extend(played("4", "5", "6")[2:])
    assert (len(history.events), history.plies, history.own) == (3, 3, 2)
