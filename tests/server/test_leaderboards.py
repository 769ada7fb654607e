"""Leaderboards of games scored by wins and by returns: lines, ratings, API and page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast
from unittest import mock

import httpx
import pytest

from plyhouse.games import get_game
from plyhouse.protocol.api.standings import Standing
from plyhouse.server.results.intervals import mean_interval
from plyhouse.server.results.leaderboards import DELAY_SECONDS, RatingRefits, lines, scoring_of
from plyhouse.server.results.ratings import Rating
from plyhouse.server.results.scoring import return_span
from plyhouse.storage.rows import PairResult
from plyhouse.storage.store import Store

WINNER = Standing(1, "mo", "maniac", 7, 3.0, 4, 3, 0, 1, 1510.0, 1400.0, 1620.0, -1.0, 7.0)


class Results:
    """A store that knows the results of one game, and what it was given to save."""

    def __init__(self, results: list[PairResult]) -> None:
        self.results = results
        self.saved: dict[int, float] = {}

    def now(self) -> int:
        return 0

    async def read(self, _: object, game: str) -> list[PairResult]:
        return self.results

    async def write(self, _: object, game: str, ratings: Mapping[int, Rating], now: int) -> None:
        self.saved = {bot: rating.elo for bot, rating in ratings.items()}


def test_a_line_has_the_mean_return_where_it_counts() -> None:
    (line,) = lines("kuhn_poker", [WINNER])
    wanted = mean_interval([1.0, 1.0, -1.0, -2.0], bounds=(-2.0, 2.0))
    assert (line.bot, line.rating, line.mean_return) == ("maniac", 1510.0, -0.25)
    assert (line.mean_low, line.mean_high) == pytest.approx((wanted.low, wanted.high))


def test_a_line_has_no_mean_return_where_only_winning_counts() -> None:
    for spec in ("pig", "a_game_that_is_not_installed_any_more"):
        (line,) = lines(spec, [WINNER])
        assert (line.mean_return, line.mean_low, line.mean_high) == (None, None, None)
        assert (line.score, line.returns, scoring_of(spec)) == (3.0, -1.0, "wins")


def test_the_span_of_returns_is_that_of_the_parameters() -> None:
    assert return_span(get_game("kuhn_poker")) == 4
    assert return_span(get_game("kuhn_poker(seats=4)")) == 8
    assert return_span(get_game("coin_guess")) == 10
    assert return_span(get_game("tic_tac_toe")) == 0


async def test_ratings_are_fitted_to_scores_not_to_wins() -> None:
    # Bot 1 has won more matches, and less.
    store = Results([PairResult("kuhn_poker", 1, 2, 30, 0, 20, 24.0, 14.0)])
    board = RatingRefits(cast("Store", store))
    board.played("kuhn_poker")
    await board.settle()
    assert store.saved[1] < 1500 < store.saved[2]
    assert board.rating_of("kuhn_poker", 2) == store.saved[2]


async def test_first_match_is_rated_at_once_and_the_next_fit_waits() -> None:
    store = Results([PairResult("kuhn_poker", 1, 2, 2, 1, 1, 1.0, 0.5)])
    board = RatingRefits(cast("Store", store))
    loop = asyncio.get_running_loop()
    with (
        mock.patch.object(loop, "time", return_value=100.0),
        mock.patch.object(loop, "call_at") as at,
    ):
        board.played("kuhn_poker")
        assert at.call_args.args[0] == 100.0
        board._run()
    await board.settle()
    with (
        mock.patch.object(loop, "time", return_value=100.2),
        mock.patch.object(loop, "call_at") as at,
    ):
        board.played("kuhn_poker")
        assert at.call_args.args[0] == 100.0 + DELAY_SECONDS


async def test_a_match_scores_by_its_returns_and_api_and_page_show_them(
    house: Any,
) -> None:
    one, two = await house.bot("alice"), await house.bot("bob")
    for client in (one, two):
        await client.seek("kuhn_poker", rated=True)
    starts = await asyncio.gather(one.start(), two.start())
    ends = await asyncio.gather(one.play(starts[0], 1), two.play(starts[1], 2))
    await house.hub.ratings.settle()
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        board = (await api.get("/api/v1/leaderboards/kuhn_poker")).json()
        other = (await api.get("/api/v1/leaderboards/pig")).json()
        page = (await api.get("/")).text
    assert board["scoring"] == "returns"
    won = max(ends[0].outcome.returns)
    best, worst = board["standings"]
    assert (best["mean_return"], worst["mean_return"]) == (won, -won)
    assert best["score"] == 0.5 + won / 4
    assert (best["mean_low"], best["mean_high"]) == (-2, 2)  # one match says nothing
    assert best["rating"] > 1500 > worst["rating"]
    assert "return per match" in page
    assert f"{won:+.2f}" in page
    assert other == {"game": "pig", "scoring": "wins", "standings": []}
