"""The chance outcomes of a match, checked in the browser."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE

from plyhouse.games import get_game
from plyhouse.server.results.record import Record, read_record, write_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import match_reads

from .browser import Page
from .conftest import Bot, House

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def dice() -> None:
    """Leave the dice alone."""


TOLD = "document.querySelector('#dice [role=status]').textContent"
OPEN = "document.querySelector('#dice summary').click()"
TAMPER = """
const real = window.fetch;
window.fetch = async (address, ...more) => {
  const answer = await real(address, ...more);
  if (!String(address).endsWith("/record")) return answer;
  const record = await answer.json();
  const rolls = record.events.filter((event) => event.kind === "chance");
  rolls[1].text = rolls[1].text === "6" ? "5" : "6";
  return new Response(JSON.stringify(record), {status: 200});
};
"""


async def rolled(house: House) -> list[Bot]:
    """A match of pig in which a few dice were rolled; its first seat is to move."""
    bots = await house.pair("pig")
    for _ in range(6):
        live = house.hub.directory.own[bots[0].match]
        await bots[live.match.position.state.to_move].act("roll")
    return bots


async def ended(house: House) -> str:
    bots = await rolled(house)
    bots[0].resign()
    await bots[0].finish()
    match = bots[0].match
    while (await house.hub.store.read(match_reads.stored_match, match)).pairing.finished_ms is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return match


async def got(house: House, match: str, what: str) -> Any:
    async with httpx.AsyncClient(base_url=house.url, timeout=PATIENCE) as http:
        return (await http.get(f"/api/v1/matches/{match}/{what}")).json()


async def test_the_page_checks_the_seed_and_every_roll(house: House, page: Page) -> None:
    bots = await rolled(house)
    match = bots[0].match
    await page.go(f"{house.url}/matches/{match}")
    await page.until("document.querySelector('#where').textContent.includes('live')")
    assert not await page.evaluate("document.querySelector('#dice').checkVisibility()")
    bots[0].resign()
    await page.until("document.querySelector('#dice').checkVisibility()")
    await page.evaluate(OPEN)
    await page.until(f"{TOLD}.includes('worked it out again')")
    told = await page.evaluate(TOLD)
    assert "All 6 are what the seed gives" in told
    assert "this page was told while the match ran" in told
    assert "plyhouse verify" in told
    assert await page.evaluate("document.querySelectorAll('#dice .unfair').length") == 0
    assert await page.evaluate("document.querySelectorAll('#dice tbody tr').length") == 6
    assert page.errors == []


async def test_a_tampered_record_is_shown_as_such(house: House, page: Page) -> None:
    match = await ended(house)
    await page.tab.add_init_script(TAMPER)
    await page.go(f"{house.url}/matches/{match}")
    await page.until("document.querySelector('#dice').checkVisibility()")
    await page.evaluate(OPEN)
    await page.until(f"{TOLD}.includes('This record does not hold')")
    assert "1 of 6 are not what the seed gives:" in await page.evaluate(TOLD)
    assert "Number 1, before ply 3, is" in await page.evaluate(TOLD)
    assert await page.evaluate("document.querySelectorAll('#dice tr.unfair').length") == 1
    assert page.errors == []


async def test_hashes_are_those_of_web_crypto(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    script = """
      import("/web/sha256.js").then(async ({ sha256, hmac }) => {
        const same = (one, other) => new Uint8Array(one).join() === new Uint8Array(other).join();
        const sign = { name: "HMAC", hash: "SHA-256" };
        const wrong = [];
        for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
          const data = crypto.getRandomValues(new Uint8Array(length));
          if (!same(sha256(data), await crypto.subtle.digest("SHA-256", data))) wrong.push(length);
          for (const size of [32, 64, 65]) {
            const raw = crypto.getRandomValues(new Uint8Array(size));
            const key = await crypto.subtle.importKey("raw", raw, sign, false, ["sign"]);
            const signed = await crypto.subtle.sign("HMAC", key, data);
            if (!same(hmac(raw, data), signed)) wrong.push([size, length]);
          }
        }
        return wrong;
      })"""
    assert await page.evaluate(script) == []


def altered(record: Record, change: str) -> Record:
    """A record in which something was changed afterwards."""
    plain = json.loads(write_record(record))
    chance, events = plain["chance"], plain["events"]
    rolls = [event for event in events if event["kind"] == "chance"]
    match change:
        case "seed":
            chance["seed"] = "00" * 32
        case "commitment":
            chance["commitment"] = "00" * 32
        case "short seed":
            chance["seed"] = chance["seed"][:8]
        case "no seed":
            chance["seed"] = None
        case "nonce":
            chance["nonces"][0] = "beef"
        case "ready":
            next(event for event in events if event["kind"] == "ready")["text"] = "beef"
        case "stream":
            chance["stream"] = "match:other"
        case "roll":
            rolls[0]["text"] = "1" if rolls[0]["text"] != "1" else "2"
        case "missing":
            events.remove(rolls[0])
        case "version":
            chance["version"] = 2
    return read_record(json.dumps(plain))


async def test_the_browser_and_plyhouse_verify_come_to_the_same(house: House, page: Page) -> None:
    match = await ended(house)
    record = read_record(json.dumps(await got(house, match, "record")))
    chances = await got(house, match, "chances")
    await page.go(f"{house.url}/matches/{match}")
    changes = [
        *("nothing", "seed", "commitment", "short seed", "nonce", "ready", "stream", "roll"),
        *("missing", "no seed", "version"),
    ]
    records = [altered(record, change) for change in changes]
    given = json.dumps([json.loads(write_record(each)) for each in records])
    found = await page.evaluate(
        f"import('/web/verify.js').then(({{ verify }}) => Promise.all({given}.map("
        f"(each) => verify(each, {json.dumps(chances)}).then(({{ ok }}) => ok))))"
    )
    assert dict(zip(changes, found, strict=True)) == {
        change: change == "nothing" for change in changes
    }
    # Over plain http browsers do not offer Web Crypto, so the page has its own hash function.
    await page.evaluate("Object.defineProperty(window.crypto, 'subtle', { value: undefined })")
    again = await page.evaluate(
        f"import('/web/verify.js').then(({{ verify }}) => Promise.all({given}.map("
        f"(each) => verify(each, {json.dumps(chances)}).then(({{ ok }}) => ok))))"
    )
    assert again == found
    for change, each in zip(changes, records, strict=True):
        report = verify(each, get_game(each.game))
        unknown = change in ("no seed", "version")  # which it says it had to skip
        assert report.ok == (change == "nothing" or unknown), (change, str(report))
