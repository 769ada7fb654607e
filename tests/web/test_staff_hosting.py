"""Organisers and students manage hosted bots in the browser."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.harness.hosted_server import OLGA, PIG, HostedServer
from tests.web.browser import Page, sign_in
from tests.web.conftest import patient

from plyhouse.server.serve import running_server
from plyhouse.storage import (
    competition_sql,
    competition_students,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember

pytestmark = pytest.mark.browser

CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "class"
[[baselines]]
bot = "olga/mine"
"""
STATE = "document.querySelector('#state').textContent"


@pytest_asyncio.fixture(loop_scope="session")
async def house() -> AsyncIterator[HostedServer]:
    """A server that accepts submissions and has no runner, so nothing of them runs."""
    async with (
        running_server(patient(hosted=True)) as server,
        contextlib.AsyncExitStack() as stack,
    ):
        yield HostedServer(server, stack)


async def test_a_final_is_rehearsed_and_bots_are_opened_from_the_page_of_the_competition(
    page: Page, house: HostedServer
) -> None:
    store, url = house.hub.store, house.server.url
    token = await house.token("olga", "organise", "play")
    await house.submit("olga", PIG, "mine", "tic_tac_toe")
    cup = await house.hub.competitions.open(CUP, OLGA)
    (ada,) = await store.write(
        competition_students.take_in, cup.id, [NewMember("ada", "ada")], OLGA, store.now()
    )
    house._players.add(ada.account)
    await house.submit("ada", PIG, "mine", "tic_tac_toe")
    cups = f"{url}/competitions/{cup.id}"

    async def opened() -> list[str]:
        return [f"{each.player}/{each.bot}" for each in await house.hub.hosted_play.listed()]

    await page.go(cups)
    await sign_in(page, token)
    await page.go(cups)
    assert "mine version without a label" in await page.text("#pupils")
    assert "run by the server" in await page.text("#pupils")
    # The organiser decides only about its own bots.
    assert await page.evaluate("document.querySelectorAll('[data-open]').length") == 1
    await page.click("[data-open='olga/mine']")
    await page.until(f"{STATE} === 'People may play against it now.'")
    assert await opened() == ["olga/mine"]
    await page.until("document.querySelector('[data-open]').dataset.to === 'nobody'")
    await page.click("[data-open='olga/mine']")
    await page.until(f"{STATE} === 'Nobody can play against it now.'")
    assert await opened() == []

    await page.click("[data-step=rehearse]")
    await page.until(f"{STATE}.startsWith('Cup (rehearsal) is running.')")
    rehearsal = await store.read(competition_sql.find, "Cup (rehearsal)")
    assert rehearsal.rehearses == cup.id
    assert not await page.evaluate("Boolean(document.querySelector('[data-step=rehearse]'))")
    await page.go(f"{url}{await page.evaluate('document.querySelector(`#steps a`).pathname')}")
    assert "Cup (rehearsal)" in await page.text("h1")
    # When it is deleted, there can be another one.
    await page.click("[data-step=delete]")
    await page.press_again("[data-step=delete]")
    await page.until("location.pathname === '/competitions'")
    await page.go(cups)
    assert await page.evaluate("Boolean(document.querySelector('[data-step=rehearse]'))")
    assert not await page.evaluate("Boolean(document.querySelector('[data-step=delete]'))")

    await sign_in(page, ada.token)
    await page.go(cups)
    await page.click("#own [data-open='ada/mine']")
    await page.until(f"{STATE} === 'People may play against it now.'")
    assert await opened() == ["ada/mine"]


async def test_refused_baseline_is_shown_with_its_reason_and_replaced_on_the_page(
    page: Page, house: HostedServer, pictures: Path | None
) -> None:
    store, url = house.hub.store, house.server.url
    token = await house.token("olga", "organise", "play")
    reference = '[[baselines]]\nbot = "house/weak"\nreference = "alpha_beta"\n'
    cup = await house.hub.competitions.open(CUP.partition("[[baselines]]")[0] + reference, OLGA)
    report = "ok      loads: 9 games claimed\nFAILED  plays tic_tac_toe as X: flag fall: too late"
    await store.write(
        submission_sql.check,
        next(iter(await store.read(submission_checks.waiting))),
        False,
        report,
        (),
        10,
    )
    await page.go(f"{url}/competitions/{cup.id}")
    await sign_in(page, token)
    await page.go(f"{url}/competitions/{cup.id}")
    assert "refused by its check" in await page.text("#pupils")
    assert "plays tic_tac_toe as X: flag fall: too late." in await page.text("#staff-note")
    if pictures is not None:
        await page.show_as(1200, 1400)
        await page.screenshot(pictures / "refused-baseline.png")
    await page.evaluate("document.querySelector('[data-baseline] input').value = 'random'")
    await page.click("[data-baseline] button")
    await page.until(f"{STATE} === 'house/weak waits for its check.'")
    assert "waits for its check" in await page.text("#pupils")
    assert 'reference = "random"' in (await house.hub.store.read(competition_sql.find, cup.id)).file
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "ok      loads", ("tic_tac_toe",), 11)
    await page.until("!document.querySelector('#pupils').innerText.includes('waits for its')")
