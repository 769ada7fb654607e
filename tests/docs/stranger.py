"""Recomputes records with nothing but ``docs/chance.md``, ``record.md``, ``time-controls.md``."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

Node = list[tuple[str, float]]
SECOND = 1_000_000_000


def table_of_outcomes(page: str) -> dict[str, list[Node]]:
    """The order of outcomes as the page's table has it, by game."""
    found: dict[str, list[Node]] = {}
    for spec, texts, how in re.findall(r"\| `([^|]+)` \| ([^|]+) \| ([^|]+) \|", page):
        entries = re.findall(r"`([^`]+)`(?: (\d+/\d+))?", texts)
        share = re.match(r"\d+/\d+", how)
        if share or how.startswith(("1/n each", "as shown", "in proportion")):
            common = share[0] if share and not how.startswith("1/n") else "0"
            node = [(text, float(Fraction(own or common))) for text, own in entries]
            found.setdefault(spec, []).append(node)
    return found


def possible(record: Any, table: dict[str, list[Node]], earlier: list[str]) -> Node:
    """The outcomes of the next chance node; cards that were dealt are not there any more."""
    nodes = table[record["game"]]
    node = nodes[min(len(earlier), len(nodes) - 1)]
    if node[0][1]:
        return node
    left = [text for text, _ in node if text not in earlier]
    return [(text, 1 / len(left)) for text in left]


def drawn(chance: Any, counter: int, node: Node) -> str:
    """The outcome of a chance node."""
    nonces = "" if chance["stream"] == "pairing" else ",".join(chance["nonces"])
    text = f"plyhouse-chance-1|{chance['stream']}|{nonces}|{counter}"
    digest = hmac.digest(bytes.fromhex(chance["seed"]), text.encode(), hashlib.sha256)
    u = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
    total = 0.0
    for outcome, share in node:
        total += share
        if u < total:
            return outcome
    return next(outcome for outcome, share in reversed(node) if share > 0)


def clock(control: str) -> Generator[int, int, None]:
    """Return the time a seat has; report the time it was charged for a ply."""
    kind, _, rest = control.partition(":")
    times = [int(Fraction(each) * SECOND) for each in re.split(r"[+x]", rest)]
    if kind == "move":
        while True:
            yield times[0]
    elif kind == "total":
        left = times[0]
        while True:
            charged = yield left
            left += times[1] - charged
    elif kind == "bank":
        free, bank = times
        while True:
            charged = yield free + bank
            bank -= max(0, charged - free)
    main, periods, period = times[0], times[1] // SECOND, times[2]
    while True:
        charged = yield main + periods * period
        over = charged - main
        main = max(0, -over)
        periods -= max(0, over) // period


def recompute(record: Any, page: str) -> int:
    """Check dice, ledgers, numbering and the count of refusals; how many rolls there were."""
    table = table_of_outcomes(page)
    rolls: list[str] = []
    chance, ply, refused = record["chance"], 0, 0
    assert hashlib.sha256(bytes.fromhex(chance["seed"])).hexdigest() == chance["commitment"]
    clocks = [clock(record["time_control"]) for _ in record["seats"]]
    had = [next(each) for each in clocks]
    refunded = [0] * len(clocks)
    nonces = [""] * len(clocks)
    for event in record["events"]:
        kind, seat = event["kind"], event["seat"]
        assert event["ply"] == ply
        if kind == "ready":
            nonces[seat] = event.get("text", "")
        elif kind == "chance":
            node = possible(record, table, rolls)
            assert event["text"] == drawn(chance, len(rolls), node), f"roll {len(rolls)}"
            rolls.append(event["text"])
        elif kind == "illegal":
            refused += 1
        on_clock = seat if kind == "action" else event.get("on_clock", -1)
        if on_clock >= 0:
            names = ("thought_ns", "lag_ns", "stall_ns", "charged_ns", "remaining_ns")
            thought, lag, stall, charged, remaining = (event.get(name, 0) for name in names)
            assert charged == thought - lag - stall, f"ply {ply}: the ledger does not add up"
            refunded[on_clock] += lag
            assert lag <= record["lag"]["per_move_cap_ns"]
            assert refunded[on_clock] <= record["lag"]["total_cap_ns"]
            if kind == "end" and event["text"] == "flag_fall":
                assert charged > had[on_clock]
                assert remaining == 0
            else:
                had[on_clock] = clocks[on_clock].send(charged)
                assert remaining == had[on_clock], f"ply {ply}: {remaining} ns left"
        if kind == "action":
            ply, refused = ply + 1, 0
        elif kind == "end":
            assert event["text"] == record["outcome"]["termination"]
            if event["text"] == "illegal_action":
                limit = record["max_retries"] if record["illegal_rule"] == "retry" else 0
                assert refused == limit + 1
    assert nonces == chance["nonces"]
    return len(rolls)


def forfeited(
    utility: str, least: float, most: float, teams: Sequence[int], guilty: int
) -> list[float]:
    """The returns of a forfeit; ``teams`` has the team of each seat."""
    seats = len(teams)
    share = {
        "zero_sum": -least / (seats - 1),
        "constant_sum": (most + (seats - 2) * least) / (seats - 1),
        "team": -least,
    }.get(utility, most)
    share = min(most, max(least, share))
    return [least if team == teams[guilty] else share for team in teams]
