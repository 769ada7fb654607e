"""Every registered game, and an example's own, played by the page's controls in one browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plyhouse.games import registry
from plyhouse.games.registry import add_game_file, get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Act, Hello, MatchMessage, Ping, Pong, Ready, Turn
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

from .browser import Page, sign_in
from .conftest import Bot, House
from .test_play import ACTIONS, MINE, challenged, spot

pytestmark = pytest.mark.browser

CHOMP = Path(__file__).parents[2] / "examples" / "chomp.py"
TURNS = 2
"""So many actions the person plays in each match, if it lasts so long."""

# One action, spot after spot, as somebody would who takes the first thing that lights up.
PLAY = """
(async () => {
  const first = (...each) => each.map((one) => document.querySelector(one)).find(Boolean);
  for (let clicks = 0; clicks < 40 && document.title.startsWith("Your turn: "); clicks += 1) {
    const found = first("#scene .spot.next", "#scene .spot.end",
      "#match .choices[aria-label='Which one?'] button", "#scene .spot.start", "#scene td button",
      "#match .prompt > .choices button");
    if (!found) return "nothing can be chosen";
    found.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await new Promise((resolve) => { setTimeout(resolve, 0); });
  }
  return document.title.startsWith("Your turn: ") ? "nothing came of it" : "";
})()
"""
OVER = "document.querySelector('#outcome').textContent !== ''"


async def answer(bot: Bot) -> None:
    """Play the first legal action in every turn of every match."""
    while (frame := await bot.client.recv()) is not None:
        message = MSGPACK.decode_server(frame)
        if isinstance(message, Ping):
            bot.client.send(MSGPACK.encode(Pong(message.id)))
        elif isinstance(message, MatchMessage):
            bot.send(Ready, message.snapshot.match)
        elif isinstance(message, Turn):
            bot.send(Act, message.match, message.ply, message.observation["legal"][0])


@contextlib.asynccontextmanager
async def opponents(house: House, *names: str) -> AsyncIterator[None]:
    """Bots that answer by themselves."""
    tasks = [asyncio.create_task(answer(await house.bot(name))) for name in names]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def signed_in(house: House, page: Page) -> None:
    """The tab in which `ann` will take her seats."""
    await page.go(f"{house.url}/play")
    await sign_in(page, await house.token("ann"))


async def begun(house: House, spec: str, seat: int) -> str:
    """A match in which `ann` holds a seat; games of one seat, too, which nobody can seek."""
    person = Bot(house.hub.connect(), "ann")
    person.send(Hello, await house.token("ann"), takeover=True)
    await person.welcomed()
    known = sorted(house.hub.directory.presences.values(), key=lambda each: each.player)
    (ann,) = [each for each in known if each.player == "ann"]
    game = get_game(spec)
    seats = [each.bot_id for each in known if each is not ann][: game.seats - 1]
    seats.insert(seat, ann.bot_id)
    terms = Terms(game, TimeControl.parse("total:300"), rated=False)
    return next(iter(house.hub.live_matches.begin(terms, [seats]).open))


async def test_game_of_a_file_and_game_against_chance_are_played_in_the_browser(
    house: House, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The games as they are registered are those of test_whole_games.py."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))
    specs = ["pacman(ghosts=random)", add_game_file(str(CHOMP))]
    await signed_in(house, page)
    async with opponents(house, "bob", "carol"):
        for number, spec in enumerate(specs):
            game = get_game(spec)
            match = await begun(house, spec, number % game.seats)
            await page.go(f"{house.url}/matches/{match}")
            for turn in range(TURNS):
                await page.until(f"{MINE} || {OVER}")
                if await page.evaluate(OVER):
                    assert turn or game.seats > 1, spec
                    break
                assert await page.evaluate(PLAY) == "", spec
                await page.until(f"!({MINE}) || {ACTIONS}.length")
            assert await page.text(".status"), spec
            assert page.errors == [], spec
            # The last action may have ended it, which shows with its position.
            resign = "document.querySelector('[data-request=resign]')"
            await page.until(f"{resign} || {OVER}")
            await page.evaluate(f"void {resign}?.click(), void {resign}?.click()")  # asked again
            await page.until(OVER)


async def test_pieces_are_dragged(house: House, page: Page) -> None:
    bot = await challenged(house, page, "chess")
    await page.drag(spot("e2"), spot("e5"))  # where it cannot go: it goes back
    assert await page.evaluate(f"{MINE} && !document.querySelector('.spot.chosen, .ghost')")
    await page.drag(spot("e2"), spot("e4"))
    await page.until(f"{ACTIONS}[0] === 'e4'")
    await bot.act("e7e5")
    await page.until(MINE)
    heard = await page.text("#heard")
    assert "bob/bot: e5" in heard
    assert "e5, black pawn" in heard
    assert page.errors == []


async def test_a_move_is_chosen_before_the_turn_comes(house: House, page: Page) -> None:
    bot = await challenged(house, page, "chess", seat=1)
    await page.until("document.querySelector('#scene [data-spot=e7]')")
    box = "document.querySelector('[data-spot={}]').getBoundingClientRect().y"
    assert await page.evaluate(f"{box.format('e7')} > {box.format('e2')}")  # black sits below
    await page.click(".flip")
    assert await page.evaluate(f"{box.format('e7')} < {box.format('e2')}")
    await page.click(".flip")
    await page.click(spot("e7"))
    await page.click(spot("e5"))
    assert "e7 to e5" in await page.text(".hint")
    await bot.act("d2d4")
    await page.until(f"{ACTIONS}.join() === 'd4,e5'")
    await page.click(spot("e5"))
    await page.click(spot("e4"))
    await bot.act("d4e5")  # takes the pawn that was to go on: nothing is played
    await page.until(MINE)
    assert await page.evaluate(f"{ACTIONS}.length") == 3
    assert page.errors == []


async def test_a_backgammon_turn_is_two_checkers_in_any_order(house: House, page: Page) -> None:
    opening = json.dumps("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 31")
    await challenged(house, page, f"backgammon(position={opening})")
    for name in ("6", "5", "8"):
        await page.click(spot(name))
    assert "6 5 8: choose 5" in await page.text(".hint")
    await page.click(spot("5"))
    await page.until(f"{ACTIONS}.includes('8/5 6/5')")
    assert page.errors == []


async def test_arrows_lead_through_the_maze(house: House, page: Page) -> None:
    await signed_in(house, page)
    match = await begun(house, "pacman(ghosts=random)", 0)
    await page.go(f"{house.url}/matches/{match}")
    for key, action in (("ArrowLeft", "west"), ("ArrowRight", "east")):
        await page.until(MINE)
        await page.press(key)
        await page.until(f"{ACTIONS}.includes('{action}')")
    assert page.errors == []


@pytest.mark.parametrize("game", ["tic_tac_toe", "othello"])
async def test_ground_between_rounded_cells_has_the_colour_of_the_gaps(
    house: House, page: Page, game: str
) -> None:
    (bot, *_) = await house.pair(game)
    await page.go(f"{house.url}/matches/{bot.match}")
    await page.until("document.querySelector('.grid .cell') !== null")
    colours = await page.evaluate(
        "[getComputedStyle(document.querySelector('.grid .field')).fill,"
        " getComputedStyle(document.querySelector('.grid .cell')).stroke]"
    )
    assert colours[0] == colours[1]
