"""A record gone through from one seat: what each ply was worth, and where the match was lost.

The plies are judged from the last to the first: near the end positions are solved quickly, so that
the time saved there goes to the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Final

from plyhouse.clients.review.judges import Judge, Judgement, judge_for
from plyhouse.clients.shared.errors import CommandError
from plyhouse.games.base import ChanceKind, Game, Information, Scoring, Utility
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.values import PERCENT, drop_text, unit_of, value_text
from plyhouse.protocol.api.positions import Review, ReviewedPly
from plyhouse.protocol.parts import ending_words
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.results.record import Record, RecordEvent

THRESHOLD: Final = 0.05
"""Drop that counts as a loss, as a share of the range of the game's returns."""
PREPARING: Final = 0.3
"""Share of the time that may go into solving the game beforehand."""
LEAST: Final = 0.02
"""Seconds for a ply, however many there are."""
FAULTS: Final = FORFEITS | {"resignation"}
"""Terminations that a seat brings about itself."""
MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Turn:
    """A position in which the seat was to move."""

    ply: int
    state: Any
    action: Any | None
    text: str
    event: RecordEvent | None
    """With the ledger of the ply; None if no clock ran."""
    refused: tuple[str, ...]


def default_seat(record: Record) -> int:
    """The seat that got least; the first one if all got the same."""
    returns = record.outcome.returns if record.outcome is not None else []
    return min(range(len(returns)), key=lambda seat: returns[seat]) if returns else 0


def review(
    record: Record,
    game: Game,
    seat: int,
    *,
    seconds: float,
    threshold: float = THRESHOLD,
    where: str = "",
    clock: Callable[[], float] = monotonic,
    judge: Judge | None = None,
) -> Review:
    """Judge every ply of a seat within about so many seconds.

    ``threshold`` is the drop that counts as a loss where values are not exact or not won, drawn
    and lost, as a share of the range of returns.  ``where`` is what a command line has to say to
    find the record again.  ``judge`` is one that was made for the game before.  Raises
    `CommandError` if the record does not fit the game.
    """
    begun = clock()
    turns = list(_turns(record, game, seat))
    judge = judge or judge_for(game, seconds * PREPARING)
    low, high = game.return_bounds
    least = threshold * (high - low)
    ended, unit = _ends_by_rules(game), unit_of(game)
    rows: list[ReviewedPly] = []
    for left, turn in zip(range(len(turns), 0, -1), reversed(turns), strict=True):
        share = max(LEAST, (begun + seconds - clock()) / left)
        judged = _judged(judge, turn, share)
        rows.append(_row(game, turn, judged, _is_lost(judged, least, ended)))
    rows.reverse()
    losses = tuple([row.ply for row in rows if row.lost])
    outcome = record.outcome
    at_fault = outcome is not None and outcome.seat == seat and outcome.termination in FAULTS
    ply = losses[0] if losses else rows[-1].ply if rows and at_fault else None
    command = "" if ply is None else f"plyhouse bot ask mybot.py {where}--ply {ply + 1}"
    found = Review(
        match=record.match,
        game=record.game,
        time_control=record.time_control,
        seat=seat,
        player=holder(record, seat),
        returned=None if outcome is None or not outcome.returns else outcome.returns[seat],
        termination="" if outcome is None else outcome.termination,
        at_fault=at_fault,
        method=judge.method,
        rule=_rule(least, threshold, ended, unit),
        verdict="",
        lost_at=losses[0] if losses else None,
        losses=losses,
        command=command,
        seconds=round(clock() - begun, 3),
        plies=rows,
        unit=unit,
    )
    return replace(found, verdict=_verdict(found, ended))


def _turns(record: Record, game: Game, seat: int) -> Iterator[_Turn]:
    """The positions in which the seat was to move, in the order of play."""
    position = Position(game)
    refused: list[str] = []
    try:
        for event in record.events:
            if event.kind == "illegal" and event.seat == seat:
                refused.append(event.text)
            elif event.kind in ("action", "chance"):
                before, ply = position.state, position.ply
                action = position.apply(event.seat, event.text)
                if event.kind == "action" and event.seat == seat:
                    yield _Turn(ply, before, action, event.text, event, tuple(refused))
                    refused.clear()
            elif event.kind == "end" and position.mover == seat:
                clocked = event if event.on_clock == seat else None
                yield _Turn(position.ply, position.state, None, "", clocked, tuple(refused))
    except GameError as error:
        raise CommandError(
            f"Match {record.match} cannot be played again as {game.spec}: {error}"
        ) from error


def _judged(judge: Judge, turn: _Turn, seconds: float) -> Judgement:
    actions: Sequence[Any] = turn.state.actions()
    if len(actions) > 1 or turn.action is None:
        return judge.judge(turn.state, turn.action, seconds)
    # Nothing could be lost by it: little time is enough to know about what it is worth.
    return judge.judge(turn.state, turn.action, min(seconds, LEAST))


def _ends_by_rules(game: Game) -> bool:
    """Return whether exact values say won, drawn or lost, so that no threshold is needed."""
    return (
        game.seats == 2
        and game.chance_kind is ChanceKind.DETERMINISTIC
        and game.info.information is Information.PERFECT
        and game.info.utility is Utility.ZERO_SUM
        and game.info.scoring is Scoring.WINS
    )


def _is_lost(judged: Judgement, least: float, ended: bool) -> bool:
    if judged.played is None:
        return False
    if judged.exact and ended:
        return _sign(judged.played) < _sign(judged.best)
    error = 0.0 if judged.certainty.startswith("depth") else judged.error
    return judged.drop > least + error


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _row(game: Game, turn: _Turn, judged: Judgement, lost: bool) -> ReviewedPly:
    event = turn.event or RecordEvent("", turn.ply, 0)
    return ReviewedPly(
        ply=turn.ply,
        action=turn.text,
        played=judged.played,
        best_action=game.format(turn.state, judged.best_action),
        best=judged.best,
        drop=judged.drop,
        certainty=judged.certainty,
        exact=judged.exact,
        lost=lost,
        thought_ms=event.thought_ns / MS,
        lag_ms=event.lag_ns / MS,
        stall_ms=event.stall_ns / MS,
        charged_ms=event.charged_ns / MS,
        remaining_ms=event.remaining_ns / MS,
        refused=turn.refused,
    )


def holder(record: Record, seat: int) -> str:
    """Return who had the seat: ``player/bot``, or a player."""
    held = record.seats[seat]
    return f"{held.player}/{held.bot}" if held.bot else held.player


def _rule(least: float, threshold: float, ended: bool, unit: str) -> str:
    text = f"a drop of more than {drop_text(least, unit)}"
    if unit != PERCENT:
        text += f", {threshold:.3g} of the range of returns"
    text += "; where it is sampled, of more than that and two standard errors at most"
    if ended:
        return f"exact values: won to drawn or lost, or drawn to lost; estimates: {text}"
    return text


def _verdict(found: Review, ended: bool) -> str:
    """The conclusions, in sentences."""
    said: list[str] = []
    rows, unit = found.plies, found.unit
    if not rows:
        return f"Seat {found.seat + 1} was never to move."
    if found.lost_at is not None:
        row = found.row(found.lost_at)
        said.append(
            f"The value was lost at ply {row.ply + 1}: {row.action} is worth "
            f"{worth(row.played, unit, row.exact and ended)}, {row.best_action} "
            f"{worth(row.best, unit, row.exact and ended)} ({row.certainty})."
        )
        more = [str(ply + 1) for ply in found.losses[1:]]
        if more:
            plies = "ply" if len(more) == 1 else "plies"
            said.append(f"More was lost at {plies} {', '.join(more)}.")
    elif rows[0].exact and ended and rows[0].best < 0:
        said.append("The position was lost before the first ply of this seat.")
    else:
        said.append(f"No ply lost the value: none of {len(rows)} was found to cost so much.")
    if found.at_fault:
        how = ending_words(found.termination)
        last = rows[-1]
        at = f"The match itself ended by this seat's {how}"
        if last.action:
            said.append(f"{at}.")
        else:
            said.append(
                f"{at} at ply {last.ply + 1}, in a position worth "
                f"{worth(last.best, unit, last.exact and ended)} ({last.certainty})."
            )
    return " ".join(said)


def worth(value: float | None, unit: str, settled: bool = False) -> str:
    """A value for people: ``62.5 %``, or ``0 % (lost)`` where it is settled.

    >>> worth(0.25, "%"), worth(-1.0, "%", settled=True), worth(None, "points")
    ('62.5 %', '0 % (lost)', 'unknown')
    """
    if value is None:
        return "unknown"
    words = ("drawn", "won", "lost")
    return value_text(value, unit) + (f" ({words[_sign(value)]})" if settled else "")
