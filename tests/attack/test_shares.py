"""Places that a few accounts or addresses would hold alone."""

from __future__ import annotations

from collections import Counter

import pytest

from plyhouse.server.wire.limits import Full, Places


def test_few_accounts_cannot_hold_all_places() -> None:
    """A class behind one address connects although three accounts there came first."""
    places = Places(100, spectators=50, per_address=60, strangers_per_address=9)

    def comes(who: str, address: str, account: int) -> None:
        places.enter(who, address)
        try:
            places.check(who, account)
        except Full:
            places.leave(who)
        else:
            places.play(who, account)

    for account in (1, 2, 3):
        for number in range(30):
            comes(f"{account}:{number}", "campus", account)
    held = Counter(places._playing.values())
    assert held == {1: 25, 2: 6, 3: 6}, "a quarter of all, and a tenth for the others"
    for student in range(23):
        comes(f"student{student}", "campus", 100 + student)
    assert len(places) == 60, "the address is full of students now"
    for account in (1, 2, 3):
        for number in range(30):
            comes(f"{account}:{number} again", f"home{account}", account)
    assert Counter(places._playing.values())[1] == 25, "the others count wherever they come from"
    assert len(places) == 60 + 4 + 4
    for who in list(places._addresses):
        places.leave(who)
    assert (places._shares.total, places._shares_at, places._playing) == (0, {}, {})


def test_spectators_of_one_address_give_way_to_other_addresses() -> None:
    places = Places(20, spectators=6, per_address=9, strangers_per_address=9)
    for number in range(6):
        places.enter(number, "a")
        assert places.watch(number) is None
    gone = []
    for number in range(10, 13):
        places.enter(number, "b")
        gone.append(places.watch(number))
    assert gone == [0, 1, 2], "the longest watching of the address with the most"
    for address in ("a", "b"):
        places.enter(address, address)
        with pytest.raises(Full, match="spectators"):
            places.watch(address)
        places.leave(address)
    places.enter("c", "c")
    assert places.watch("c") in {3, 10}


def test_spectators_of_a_crowded_address_give_way_to_bots_of_it() -> None:
    places = Places(100, spectators=50, per_address=4, strangers_per_address=4)
    for number in range(4):
        places.enter(number, "campus")
        if number < 3:
            places.watch(number)
    assert places.enter("bot", "campus") == 3, "a stranger first"
    places.play("bot", 1)
    assert places.enter("other", "campus") == 0
    with pytest.raises(Full, match="address"):
        places.watch("other")
    places.play("other", 2)
    assert list(places._watching["campus"]) == [1, 2]
