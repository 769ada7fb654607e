"""Views of a match: replayed, live, on the projector, on the wall, in a frame."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import httpx
import pytest
from playwright.async_api import Route

from plyhouse.protocol.messages import Accepted, Act, Hello, Resign, Seek, Turn
from plyhouse.server.config import ConfigError, ServerConfig
from plyhouse.server.serve import running_server

from .browser import Page, sign_in
from .conftest import Bot, House

pytestmark = pytest.mark.browser

FOUR = "1 1 2 2 3 3 4"
DISCS = "document.querySelectorAll('#scene .stone').length"
WHERE = "document.querySelector('#where').textContent"
OUTCOME = "document.querySelector('#outcome').textContent"
STATUS = "document.querySelector('.status').textContent"
HURRY = (
    "const wait = window.setTimeout;"
    "window.setTimeout = (act, time, ...more) =>"
    " wait(act, time > 2500 && time < 9000 ? 50 : time, ...more);"
)
"""Run in a page before its scripts: nobody waits for the seconds that people are given. Longer
times (how long a silent server counts as connected) stay unchanged."""


async def module(page: Page, house: House, body: str) -> Any:
    """Return the result of a function body with all of the client's pure modules in scope."""
    await page.go(f"{house.url}/play")
    names = ("words", "motion", "pace")
    imports = ", ".join(f"import('/web/{name}.js')" for name in names)
    return await page.evaluate(
        f"Promise.all([{imports}]).then(([words, motion, pace]) => {{ {body} }})"
    )


async def test_results_in_words(house: House, page: Page) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"termination": "normal", "returns": [1, -1]}, "ann wins."),
        ({"termination": "normal", "returns": [0, 0]}, "Draw."),
        ({"termination": "normal", "returns": [-10, -10]}, "Nobody is ahead: \u221210 for each."),
        ({"termination": "normal", "returns": [100]}, "ann is done: +100."),
        ({"termination": "normal", "returns": [0]}, "ann is done: 0."),
        (
            {"termination": "flag_fall", "returns": [-20], "reason": "seat 1 (ann) ran out."},
            "ann lost on time: \u221220. Seat 1 (ann) ran out.",
        ),
        (
            {"termination": "resignation", "returns": [-1, 1], "reason": "seat 1 (ann) resigned."},
            "bob wins by resignation. Seat 1 (ann) resigned.",
        ),
        (
            {"termination": "no_answer", "returns": [1, -1], "reason": "bob named no action."},
            "ann wins. Bob named no action.",
        ),
        (
            {"termination": "no_answer", "returns": [1, -1]},
            "ann wins as the other's model named no legal action.",
        ),
        ({"termination": "normal", "returns": [3, 3, -6]}, "ann and bob win, +3."),
        ({"termination": "normal", "returns": [2.5, 0.5]}, "ann wins, +2.5 : +0.5."),
        ({"termination": "draw_agreed", "returns": [0, 0]}, "Draw by agreement."),
        ({"termination": "aborted", "reason": "nobody came."}, "No result: Nobody came."),
    ]
    told = await module(
        page,
        house,
        f"return {json.dumps([outcome for outcome, _ in cases])}"
        ".map((each) => words.sentence(each, ['ann', 'bob', 'cid']))",
    )
    assert told == [words for _, words in cases]
    reason = "seat 1 (ann) ran out of time at ply 61."
    late = {"termination": "flag_fall", "returns": [-1, 1], "reason": reason}
    gone = {**late, "termination": "resignation"}
    pot = {"termination": "normal", "returns": [-2, 2]}
    told = await module(
        page,
        house,
        f"return [[{json.dumps(late)}, 0], [{json.dumps(late)}, 1], [{json.dumps(gone)}, 0],"
        f" [{json.dumps(pot)}, 1], [{json.dumps(pot)}, 0, 'bb/100']]"
        ".map(([each, you, unit]) => words.sentence(each, ['ann', 'bob'], you, () => 31, unit))",
    )
    assert told == [
        "You lose on time at move 31.",
        "You win on time at move 31.",
        "You lose by resignation.",
        "You win, +2 : \u22122.",
        "You lose, \u22122 : +2 bb/100.",
    ]


BOARDS = """
const cell = (text) => ({ text: text.trim(), shape: /[xo]/.test(text) ? 'disc' : '',
  owner: /[xXPRQ]/.test(text) ? 0 : /[oOpr]/.test(text) ? 1 : null });
const grid = (rows) => ({ kind: 'grid', look: '', rows: rows.map((row) => [...row].map(cell)) });
const scene = (rows) => ({ elements: [grid(rows)] });
const places = (found) => found.map((each) => [each.y, each.x]);
const told = ([before, after]) => {
  const found = motion.changes(scene(before), scene(after));
  const { taken, turned, dropped, come } = found;
  const moved = found.moved.map(([from, to]) => [from.y, from.x, to.y, to.x]);
  return { moved, taken: places(taken), turned: places(turned),
    dropped: places(dropped), come: places(come) };
};
"""
MOVES: list[tuple[list[str], list[str], dict[str, Any]]] = [
    (["P  ", "   "], ["   ", "P  "], {"moved": [[0, 0, 1, 0]]}),
    (["P r", "   "], ["  P", "   "], {"moved": [[0, 0, 0, 2]], "taken": [[0, 2]]}),
    (["P  ", "   "], [" Q ", "   "], {"moved": [[0, 0, 0, 1]]}),  # became another
    (["x o", "   "], ["  x", "   "], {"moved": [[0, 0, 0, 2]], "taken": [[0, 2]]}),
    (["xo ", "   "], ["xxx", "   "], {"turned": [[0, 1]], "come": [[0, 2]]}),
    (["   ", "   ", "   ", "   "], ["   ", "   ", "   ", " x "], {"dropped": [[3, 1]]}),
    (["   ", "   ", "   ", "   "], ["   ", " x ", "   ", "   "], {"come": [[1, 1]]}),
    (["4  ", "   "], ["051", "   "], {"come": [[0, 1], [0, 2]]}),  # counts do not travel
    (["P  "], ["P  "], {}),
]


async def test_what_moved_is_seen_from_two_scenes(house: House, page: Page) -> None:
    scenes = json.dumps([(before, after) for before, after, _ in MOVES])
    found = await module(page, house, f"{BOARDS} return {scenes}.map(told)")
    for (before, after, expected), told in zip(MOVES, found, strict=True):
        seen = {kind: places for kind, places in told.items() if places}
        assert seen == expected, (before, after)


async def test_a_queue_of_fast_plies_stays_short(house: House, page: Page) -> None:
    longest = await module(
        page,
        house,
        """
        let [shown, next, longest] = [0, 0, 0];
        for (let now = 0; now < 60000; now += 10) {
          const played = Math.floor(now / 100) + 1; // ten plies a second
          if (now >= next && shown < played) {
            shown += 1;
            next = now + pace.patience(played - shown);
          }
          longest = Math.max(longest, played - shown);
        }
        const others = [pace.patience(1), pace.patience(1000)];
        return [longest, ...others, pace.shifted(1, 1), pace.shifted(16, 1)];
        """,
    )
    assert longest[0] <= 20
    assert longest[1:] == [350, 0, 2, 16]


async def test_a_replay_plays_by_itself_and_is_steered(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{DISCS} === 7")
    await page.press("Home")
    await page.until(f"{DISCS} === 0")
    for _ in range(4):
        await page.press("+")
    assert await page.evaluate("document.querySelector('#speed').value") == "16"
    await page.press(" ")
    await page.until("document.querySelector('#play').dataset.playing === 'true'")
    await page.until(
        f"{DISCS} === 7 && document.querySelector('#play').dataset.playing === 'false'"
    )
    await page.evaluate(
        "(() => { const slider = document.querySelector('#slider'); slider.value = '3';"
        "slider.dispatchEvent(new Event('input')); })()"
    )
    await page.until(f"{DISCS} === 3 && location.hash === '#3'")
    spoken = await page.evaluate("document.querySelector('#slider').getAttribute('aria-valuetext')")
    assert spoken == "Ply 3: alice/bot, 2"
    await page.click("#share")
    shared = await page.evaluate("document.querySelector('#link').value")
    assert shared == f"{house.url}/matches/{match}#3"
    assert await page.evaluate("document.querySelector('#frame').closest('div').hidden")
    await page.press("Escape")
    # Until the next frame the keyboard still belongs to the text field of the dialog.
    await page.until(
        "!document.querySelector('dialog[open]') && !document.activeElement.closest('dialog')"
    )
    await page.press("?")
    await page.until("document.querySelector('#help').open")
    await page.press("ArrowLeft")  # belongs to the help now
    assert await page.evaluate(DISCS) == 3
    await page.press("Escape")
    await page.leave_for("about:blank")
    await page.leave_for(shared)  # what somebody else opens
    await page.until(f"{DISCS} === 3 && {WHERE} === '3 / 7'")
    for asked, at in (("?ply=2", 2), ("?ply=2#4", 4), ("?ply=x", 7)):  # as reports link to it
        await page.leave_for("about:blank")
        await page.leave_for(f"{house.url}/matches/{match}{asked}")
        await page.until(f"{DISCS} === {at} && {WHERE} === '{at} / 7'")
        assert await page.evaluate("location.search") == ""
        assert await page.evaluate("location.hash") == ("" if at == 7 else f"#{at}")
    assert page.errors == []


async def test_fast_bots_can_be_followed_ply_by_ply(house: House, page: Page) -> None:
    first, second = await house.pair("connect_four")
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until(f"{WHERE}.includes('live')")
    # Each drawing is looked at: a busy machine may show two within one frame.
    await page.evaluate(
        f"(() => {{ window.seen = []; const look = () => {{ const at = {DISCS};"
        "if (window.seen.at(-1) !== at) window.seen.push(at);"
        f"if ({OUTCOME}) window.told ??= at; }};"
        "new MutationObserver(look).observe(document.querySelector('#match'),"
        "{ childList: true, characterData: true, subtree: true }); look(); })()"
    )
    for ply, action in enumerate(FOUR.split()):
        await (first, second)[ply % 2].act(action)
    await first.finish()
    await page.until(f"{OUTCOME}.includes('wins')")
    assert await page.evaluate("window.seen") == list(range(8))
    assert await page.evaluate("window.told") == 7, "nobody is told the end before it was seen"
    assert page.errors == []


async def test_who_comes_late_sees_the_position_before_all_others(house: House, page: Page) -> None:
    first, second = await house.pair("connect_four")
    for bot, action in ((first, "1"), (second, "2"), (first, "3")):
        await bot.act(action)
    # The positions before never come: the latest is there all the same.
    await page.tab.route("**/replay*", lambda route: route.abort())
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until(f"{DISCS} === 3 && {WHERE}.startsWith('3 / 3')")
    assert await page.evaluate("document.querySelectorAll('#events .ply').length") == 3


async def test_after_a_resignation_nobody_is_to_move(house: House, page: Page) -> None:
    first, _ = await house.pair("tic_tac_toe")
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('#seats [aria-current=true]')")
    first.resign()
    await page.until(f"{STATUS} === 'The match is over'")
    await page.until("!document.querySelector('#seats [aria-current=true]')")
    assert f"Seat 1 ({first.name}) resigned at ply 1." in await page.evaluate(OUTCOME)


async def test_seats_show_the_versions_that_play_during_a_match_and_after_it(
    house: House, page: Page
) -> None:
    label = "a-model-of-a-very-long-name-as-they-have-them, help: position"
    bots = [await house.bot("alice", version=label), await house.bot("bob")]
    for bot in bots:
        bot.send(Seek, "tic_tac_toe", "total:300")
    await asyncio.gather(*(bot.begin() for bot in bots))
    await page.show_as(360, 800)
    await page.go(f"{house.url}/matches/{bots[0].match}")
    shown = "[...document.querySelectorAll('#seats .version')].map((each) => each.title)"
    end = "document.querySelector('#seats .version').textContent.endsWith(', help: position')"
    await page.until(f"{shown}.length === 1 && document.querySelector('.board')")
    assert await page.evaluate(shown) == [label]
    assert await page.evaluate(end)
    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert await page.evaluate(fits)
    bots[0].send(Resign, bots[0].match)
    await bots[1].finish()
    await page.go(f"{house.url}/matches/{bots[0].match}")
    await page.until(f"{shown}.length === 1")
    assert await page.evaluate(shown) == [label]


async def test_spectators_are_told_that_a_player_is_away(house: House, page: Page) -> None:
    first, _ = await house.pair("tic_tac_toe")
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until(f"{WHERE}.includes('live')")
    away = "document.querySelector('#seats li:nth-child({}) .away').textContent"
    first.client.close()
    await page.until(f"/^away, \\d+ s left$/.test({away.format(1)})")
    assert await page.evaluate(away.format(2)) == ""
    await page.tab.reload(wait_until="commit")  # A later viewer is informed, too.
    await page.until(f"/^away, \\d+ s left$/.test({away.format(1)})")
    await house.bot(first.name.partition("/")[0])
    await page.until(f"{away.format(1)} === ''")


async def test_board_status_and_controls_are_seen_at_once(house: House, page: Page) -> None:
    await page.show_as(1440, 900)
    for game in ("connect_four", "chess", "backgammon", "go"):
        first, _ = await house.pair(game)
        for path in (f"/matches/{first.match}", f"/projector?match={first.match}"):
            await page.leave_for(f"{house.url}{path}")
            await page.until(f"location.href.endsWith('{path}') && {WHERE}.includes('live')")
            for part in (".status", ".steps", "#seats li:last-child", "#scene svg"):
                bottom = f"document.querySelector('{part}').getBoundingClientRect().bottom"
                assert await page.evaluate(bottom) <= 900, (path, part)
            share = "document.querySelector('#scene .grid svg').clientHeight / innerHeight"
            assert game == "backgammon" or await page.evaluate(share) > 0.6, path
        first.resign()
        await first.finish()


CONTRAST = """
(() => {
  const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const part = text.match(/[\\d.]+/g).slice(0, 3).map((each) => linear(Number(each) / 255));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]; };
  const row = document.querySelector('#events .ply[aria-current]');
  const ground = light(getComputedStyle(row).backgroundColor);
  const spans = [...row.querySelectorAll('span')].filter((each) => each.textContent.trim());
  return spans.map((each) => {
    const ink = light(getComputedStyle(each).color);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); });
})()
"""


async def test_the_marked_row_can_be_read(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    for dark in (False, True):
        await page.show_as(1200, 800, dark=dark)
        await page.go(f"{house.url}/matches/{match}")
        await page.until("document.querySelector('#events [aria-current]')")
        found = await page.evaluate(CONTRAST)
        assert len(found) == 2
        assert min(found) >= 4.5, (dark, found)


async def test_tables_lose_no_column_on_a_phone(house: House, page: Page) -> None:
    await house.play("connect_four", FOUR)
    await page.show_as(390, 844)
    for path in ("/", "/matches", "/leaderboards/connect_four"):
        await page.go(f"{house.url}{path}")
        script = (
            "[...document.querySelectorAll('tbody td')].filter((cell) => cell.textContent.trim())"
            ".filter((cell) => { const box = cell.getBoundingClientRect();"
            "return !box.width || box.right > innerWidth; }).map((cell) => cell.textContent)"
        )
        assert await page.evaluate(script) == [], path


async def test_finished_matches_are_sorted_by_the_time_that_is_shown(house: House) -> None:
    early, _ = await house.pair("tic_tac_toe")  # begun first, over last
    bots = [await house.bot("cid"), await house.bot("dora")]
    for bot in bots:
        bot.send(Seek, "pig", "total:300", rated=True)
    for bot in bots:
        await bot.begin()
    bots[0].resign()
    await bots[0].finish()
    await asyncio.sleep(0.002)  # Ends are in milliseconds of the wall clock: here in two.
    early.resign()
    await early.finish()
    async with httpx.AsyncClient(base_url=house.url) as web:
        text = (await web.get("/matches")).text
    finished = text[text.index('id="finished"') :]
    assert finished.index(early.match) < finished.index(bots[0].match)
    times = [each.partition('"')[0] for each in finished.split('datetime="')[1:]]
    assert times == sorted(times, reverse=True)


async def test_pieces_move_and_keep_still_for_those_who_want_that(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    moving = (
        "document.querySelector('#scene').getAnimations({subtree: true})"
        ".filter((each) => !(each instanceof CSSTransition)).length"
    )
    wishes: tuple[Literal["no-preference", "reduce"], ...] = ("no-preference", "reduce")
    for reduce in wishes:
        await page.tab.emulate_media(reduced_motion=reduce)
        await page.go(f"{house.url}/matches/{match}")
        await page.until(f"{DISCS} === 7")
        step = "document.querySelector('#back').click(), document.querySelector('#latest').click()"
        back = f"({step}, {moving})"
        assert (await page.evaluate(back) > 0) is (reduce == "no-preference")


async def test_where_the_time_went_is_told_for_each_ply(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{DISCS} === 7")
    assert await page.evaluate("document.querySelector('#record a').download") == f"{match}.json"
    await page.click("#ledger summary")
    await page.until("document.querySelectorAll('#ledger tbody tr').length === 7")
    row = await page.evaluate(
        "[...document.querySelectorAll('#ledger tbody tr:last-child td')]"
        ".map((each) => each.textContent)"
    )
    assert row[:3] == ["7", "alice/bot", "4"]
    assert float(row[-1]) <= 300


async def test_the_projector_goes_on_to_the_next_match(house: House, page: Page) -> None:
    await page.tab.add_init_script(HURRY)
    await page.show_as(1920, 1080)
    await page.go(f"{house.url}/projector")
    await page.until("document.querySelector('#state').textContent.includes('Waiting')")
    first, _ = await house.pair("connect_four")
    await page.until(f"location.search.includes('{first.match}') && {WHERE}.includes('live')")
    assert await page.evaluate("document.querySelector('#events') === null")
    assert await page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    first.resign()
    await page.until(f"{OUTCOME}.includes('wins')")
    await first.finish()
    other, _ = await house.pair("tic_tac_toe")  # another game: not the next
    bots = [await house.bot("cid"), await house.bot("dora")]
    for bot in bots:
        bot.send(Seek, "connect_four", "total:300", rated=True)
    for bot in bots:
        await bot.begin()
    await page.until(f"location.search.includes('{bots[0].match}') && {WHERE}.includes('live')")
    assert await page.evaluate(OUTCOME) == ""
    assert "cid/bot" in await page.text("#seats")
    assert other.match not in await page.evaluate("location.href")
    assert page.errors == []


async def test_projector_shows_the_end_of_a_match_that_is_faster_than_eyes(
    house: House, page: Page
) -> None:
    await page.tab.add_init_script(HURRY)
    first, second = await house.pair("tic_tac_toe")
    await page.go(f"{house.url}/projector?match={first.match}")
    await page.until(f"{WHERE}.includes('live')")
    watch = "{ childList: true, characterData: true, subtree: true }"
    note = f"() => {{ if ({OUTCOME}) ends.push({OUTCOME}); }}"
    where = "document.querySelector('#outcome')"
    await page.evaluate(
        f"{{ window.ends = []; new MutationObserver({note}).observe({where}, {watch}); }}"
    )
    bots = [await house.bot("cid"), await house.bot("dora")]
    for bot in bots:
        bot.send(Seek, "tic_tac_toe", "total:300", rated=True)
    for bot in bots:
        await bot.begin()
    for ply, action in enumerate(["b2", "b1", "a1", "c3", "a3", "c1", "a2"]):
        await (first, second)[ply % 2].act(action)
    await page.until(f"location.search.includes('{bots[0].match}')")
    assert any("wins" in each for each in await page.evaluate("ends"))
    assert page.errors == []


async def test_the_wall_shows_every_running_match(house: House, page: Page) -> None:
    await page.tab.add_init_script(HURRY)
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('#wall').textContent.includes('No match is running')")
    first, second = await house.pair("connect_four")
    tile = f'[data-match="{first.match}"]'
    discs = f"document.querySelectorAll('{tile} .stone circle').length"
    await page.until(f"document.querySelector('{tile} svg')")
    await first.act("4")
    await second.act("4")
    await page.until(f"{discs} === 2")
    bots = [await house.bot("cid"), await house.bot("dora")]
    for bot in bots:
        bot.send(Seek, "chess", "total:300", rated=True)
    for bot in bots:
        await bot.begin()
    await page.until(f"document.querySelector('[data-match=\"{bots[0].match}\"] svg')")
    assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    second.resign()
    # The tile stays for some seconds only.
    said = f"document.querySelector('{tile} {{}}').textContent"
    over = f"{said.format('.foot')}.includes('wins by resig')"
    told = f"[{said.format('.won')}, {said.format('.clock')}]"
    assert await page.until(f"{over} && {told}") == [first.name, "+1"]
    assert page.errors == []
    await page.go(f"{house.url}/wall?game=chess")
    await page.until("document.querySelectorAll('.tile').length === 1")


@pytest.mark.parametrize("stored", [False, True], ids=["just over", "only stored"])
async def test_wall_shows_the_board_of_a_match_that_ended_before_it_asked(
    house: House, page: Page, *, stored: bool
) -> None:
    first, second = await house.pair("connect_four")
    await first.act("4")
    listed = await page.tab.request.get(f"{house.url}/api/v1/matches?status=running")
    second.resign()
    await first.finish()
    if stored:
        house.hub.directory.recent.clear()
    running = await listed.text()
    await page.tab.route("**/api/v1/matches?*", lambda route: route.fulfill(body=running))
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('.tile.over svg .stone circle')")
    assert "wins by resig" in await page.text(".tile .foot")
    assert page.errors == []


async def test_the_wall_draws_only_what_has_changed(house: House, page: Page) -> None:
    first, second = await house.pair("go(size=5)")
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('.tile svg')")
    await page.evaluate(
        "window.drawn = []; window.board = document.querySelector('.tile svg');"
        "new MutationObserver((found) => {"
        " for (const each of found) drawn.push(...each.addedNodes); })"
        ".observe(board, { subtree: true, childList: true })"
    )
    await first.act("a1")
    await page.until("board.querySelectorAll('.stone circle').length === 1")
    await page.until("board.querySelectorAll('.mark').length === 1")
    await second.act("b2")
    await page.until("board.querySelectorAll('.stone circle').length === 2")
    await page.until("board.querySelectorAll('.mark').length === 1")  # the last one alone
    assert await page.evaluate("board.isConnected")
    assert await page.evaluate("drawn.map((each) => each.tagName).sort().join(' ')") == (
        "circle circle ellipse ellipse"
    )
    # Words beside a board have more or fewer lines, and boards of one game equal heights.
    beside = "[...document.querySelectorAll('.tile .scene > :not(.boards)')]"
    assert await page.evaluate(f"{beside}.length") > 0
    assert not await page.evaluate(f"{beside}.some((each) => each.checkVisibility())")
    assert page.errors == []


async def test_boards_of_the_wall_that_are_out_of_sight_wait(house: House, page: Page) -> None:
    first, _ = await house.pair("connect_four")
    await page.tab.add_init_script(HURRY)
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('.tile svg')")
    discs = "document.querySelectorAll('.tile .stone circle').length"
    await page.evaluate("document.querySelector('.tile').style.translate = '0 -900vh'")
    await page.until(
        "new Promise((done) => new IntersectionObserver(([found]) => done(!found.isIntersecting),"
        " { rootMargin: '50%' }).observe(document.querySelector('.tile')))"
    )
    await first.act("4")
    # Another board, which comes later and is in sight, is drawn: so would this one have been.
    others = [await house.bot("cid"), await house.bot("dora")]
    for other in others:
        other.send(Seek, "tic_tac_toe", "total:300", rated=True)
    for other in others:
        await other.begin()
    await page.until(f"document.querySelector('[data-match=\"{others[0].match}\"] svg')")
    assert await page.evaluate(discs) == 0
    await page.evaluate("document.querySelector('.tile').style.translate = ''")
    await page.until(f"{discs} === 1")


async def test_frames_are_for_the_sites_that_the_operator_names(page: Page) -> None:
    for embedding, allowed in (("", "'none'"), ("https://a.example, *.b.example", None)):
        if allowed is None:
            with pytest.raises(ConfigError, match="no site"):
                ServerConfig(embedding=embedding)
            embedding, allowed = "https://a.example", "https://a.example"
        config = ServerConfig(port=0, database="sqlite:///:memory:", embedding=embedding)
        async with running_server(config) as server, httpx.AsyncClient(base_url=server.url) as web:
            house = House(server)
            match = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
            shown = await web.get(f"/embed/{match}")
            plain = await web.get(f"/matches/{match}")
            assert (await web.get("/embed/none")).status_code == 404
            for answer, sites in ((shown, allowed), (plain, "'none'")):
                rule = answer.headers["content-security-policy"]
                assert rule.endswith(f"frame-ancestors {sites}")
                assert "script-src 'self';" in rule
            assert ("data-embed" in plain.text) is bool(embedding)
    with pytest.raises(ConfigError, match="no site"):
        ServerConfig(embedding="https://a.example; script-src *")


async def test_a_frame_holds_a_match_and_no_seat(house: House, page: Page) -> None:
    first, _ = await house.pair("tic_tac_toe")
    await page.go(f"{house.url}/account")
    await sign_in(page, await house.token(first.name.partition("/")[0]))
    await page.show_as(640, 420)
    await page.go(f"{house.url}/embed/{first.match}")
    await page.until(f"{WHERE}.includes('live')")
    assert await page.evaluate("document.querySelectorAll('#scene .spot').length") == 0
    assert "Your turn" not in await page.evaluate("document.title")
    inside = "document.querySelector('.steps').getBoundingClientRect().bottom <= innerHeight"
    assert await page.evaluate(inside)
    await first.act("b2")  # it still holds its seat: nobody took it over
    await page.until(f"{WHERE}.startsWith('1 / 1')")


async def test_thoughts_are_followed_live_where_the_bot_allows_it(house: House, page: Page) -> None:
    token = await house.token("alice")
    bots = [Bot(house.hub.connect(), name) for name in ("alice/one", "alice/two")]
    for bot in bots:
        bot.send(Hello, token, bot.name.split("/")[1])
        await bot.welcomed()
        bot.send(Seek, "tic_tac_toe", "total:300")
    await asyncio.gather(*(bot.begin() for bot in bots))
    bots.sort(key=lambda bot: bot.seat)
    match = bots[0].match
    words = "document.querySelector('#thoughts .said').textContent"
    for ply, action in enumerate(("b2", "a1", "c3")):
        bot = bots[ply % 2]
        turn = await bot._next(Turn)
        bot.send(Act, match, turn.ply, action, {"value": ply / 4, "live": ply != 1})
        await bot._next(Accepted)
        if ply == 0:  # A late viewer is informed, too.
            await page.go(f"{house.url}/matches/{match}")
            await page.until(f"{words} === '{bot.name} sees a chance of 50\\u00a0%'")
    await page.until(f"{words} === '{bots[0].name} sees a chance of 75\\u00a0%'")
    await page.press("ArrowLeft")
    await page.until(f"{WHERE}.startsWith('2 / 3')")
    assert (await page.evaluate(words)).strip() == "", "that one keeps its thoughts to itself"
    assert page.errors == []


async def test_a_replay_tells_what_the_bots_thought(house: House, page: Page) -> None:
    bots = await house.pair("connect_four")
    match = bots[0].match
    for ply, action in enumerate(FOUR.split()):
        bot = bots[ply % 2]
        turn = await bot._next(Turn)
        said = {"value": ply / 4, "depth": 3, "pv": [action], "text": f"<b>{ply}</b>"}
        bot.send(Act, match, turn.ply, action, said if ply < 3 else None)
        await bot._next(Accepted)
    await bots[0].finish()
    words = "document.querySelector('#thoughts .said').textContent"
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{WHERE} === '7 / 7'")
    await page.evaluate("location.hash = '#2'")
    shown = "bob/bot sees a chance of 62.5\u00a0%, 3 plies deep, plays on 1. <b>1</b>"
    await page.until(f"{words} === {json.dumps(shown)}")
    lines = await page.evaluate(
        "[...document.querySelectorAll('#thoughts polyline')]"
        ".map((each) => each.getAttribute('points').split(' ').length)"
    )
    assert lines == [2, 1]
    assert await page.text("#thoughts .values") == "100\u00a0%50\u00a0%0\u00a0%"
    assert (await page.text("#thoughts figcaption")).startswith("Chances of winning")
    await page.press("End")
    await page.until(f"{words}.trim() === ''")
    await page.click("#thoughts svg")  # its middle, which is nearest to ply 4 of 7
    await page.until(f"{WHERE} === '4 / 7' || {WHERE} === '3 / 7'")
    assert page.errors == []


@pytest.mark.browser
async def test_a_running_match_is_shown_before_the_other_answers_are_there(
    house: House, page: Page
) -> None:
    first, _ = await house.pair("connect_four")
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        await held.wait()
        await route.continue_()

    await page.tab.route("**/api/v1/matches/*", hold)
    await page.leave_for(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('#scene svg')")
    await first.act("4")
    await page.until(f"{DISCS} === 1")
    held.set()
    assert page.errors == []
