"""``plyhouse competition status`` and ``pairings``: state and next pairings of a competition."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Sequence

import click

from plyhouse.clients.shared.options import Server, competition_argument, json_option, on_server
from plyhouse.clients.shared.output import (
    counted,
    late_words,
    minute,
    note,
    print_json,
    print_table,
)
from plyhouse.clients.shared.standings import print_board, print_certainty
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import (
    BEFORE_FREEZE,
    IN_FINAL,
    Competition,
    CompetitionDetail,
    Entry,
)
from plyhouse.protocol.api.standings import NextPairing, RoundPairing

POLL = 0.5
"""Seconds between two requests of ``status --wait`` and ``run --wait``."""
NEWS = 30.0
"""Seconds between two notes of ``status --wait`` about the progress."""
PASSING = re.compile(r"\b\d+ (?=min|checks? )")
"""Numbers that change while a reason stays the same: minutes, and places in the queue."""


@click.command()
@competition_argument()
@on_server
@click.option("--game", default="", help="Only this one.  [default: all]")
@json_option()
def pairings(name: str, server: Server, game: str, as_json: bool) -> None:
    """Show rounds, brackets and the next pairings.

    This is the final of NAME as its format sees it, with the table that decides places.
    """
    found = [
        each for each in server.request(competition_calls.rounds(name)) if game in ("", each.game)
    ]
    coming = server.request(competition_calls.next_pairings(name))
    if as_json:
        print_json(found)
        return
    if not found:
        note(f"The final of {name} has not begun." if not game else f"There is no game {game}.")
    for each in found:
        ties = each.tie_breaks
        lines = [
            [
                "-" if line.place is None else str(line.place),
                line.entry + (" (left)" if line.withdrawn else ""),
                f"{line.points:g}",
                str(line.played),
                *(f"{value:g}" for value in line.tie_breaks),
            ]
            for line in each.table
        ]
        columns = ["place", "entry", "points", "pairings", *ties]
        print_table(f"{each.game}, {each.format}", columns, lines, "rlrr" + "r" * len(ties))
        note(f"Places are decided by {each.decided_by}.")
        if each.seeds:
            listed = ", ".join(f"{place} {name}" for place, name in enumerate(each.seeds, 1))
            note(f"Seeds: {listed}.")
        if each.lot:
            note(f"Entries without a rating were seeded by lot with the seed {each.lot}.")
        for number in each.rounds:
            pairs = [[_met(line), _ended(line), line.key] for line in number.lines]
            print_table(number.name, ["pairing", "result", "key"], pairs, "lll")
    _print_next([each for each in coming if game in ("", each.game)])


def practice_ladder(server: Server, name: str) -> Competition | None:
    """Return the practice ladder of a competition; None if it has none."""
    from plyhouse.clients.shared.http import ask

    listed = ask(server.address, competition_calls.competitions())
    ids = [
        each.competition
        for each in listed
        if each.competition == name or each.name.casefold() == name.casefold()
    ]
    return next((each for each in listed if each.practice_of in ids), None)


def _print_practice(server: Server, view: CompetitionDetail) -> None:
    """How far the practice ladder of a competition is."""
    ladder = practice_ladder(server, view.competition)
    if ladder is None:
        begins, never = "begins when two entries are there", "had no two entries before the freeze"
        early = view.status in BEFORE_FREEZE
        click.echo(f"Practice ladder: it {begins if early else never}.")
        return
    found = server.request(competition_calls.competition(ladder.competition))
    played = counted(sum(game.finished for game in found.progress), "match", "matches")
    click.echo(
        f"Practice ladder: {found.status}, {played} played; "
        f"plyhouse competition standings {view.name!r} --practice"
    )


def _print_next(coming: Sequence[NextPairing]) -> None:
    """The pairings that come next, as far as they are known."""
    rows = [[each.game, " - ".join(each.entries), each.key] for each in coming]
    if rows:
        print_table("Next", ["game", "pairing", "key"], rows, "lll")


def _met(line: RoundPairing) -> str:
    return " - ".join(entry or "?" for entry in line.entries if entry or line.state != "bye")


def _ended(line: RoundPairing) -> str:
    scores = line.scores
    said = line.state if scores is None else " : ".join(f"{each:g}" for each in scores)
    verb = "goes on" if scores is None else "wins"
    return said + (f", {line.winner} {verb}" if line.winner else "")


def _status(entry: Entry) -> str:
    """Return the kind of an entry, and why a baseline cannot play."""
    if not entry.baseline:
        return str(entry.status)
    words = {"refused": "refused", "waiting": "waits for its check", "missing": "missing"}
    return ", ".join(filter(None, ("baseline", words.get(entry.check, ""))))


def game_notes(view: CompetitionDetail, told: Collection[str] = ()) -> list[str]:
    """Return why games wait and who was withdrawn, without what is ``told`` anyway."""
    return [
        f"{game.game}: {text}"
        for game in view.progress
        for text in (*game.waiting_for, *game.absent)
        if text not in told
    ]


class WaitNotes:
    """Notes each reason for a wait when it comes up, and again only if its words change."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def tell(self, view: CompetitionDetail) -> None:
        """Note the reasons that are new."""
        waits = [*view.checks]
        if view.status != "running":
            waits += [f"Not yet: {view.note}."] if view.note else []
            waits += view.warnings  # an extension may delay the final
        waits += game_notes(view)
        fresh = {PASSING.sub("", text): text for text in waits}
        for text in [fresh[each] for each in fresh if each not in self._known]:
            note(text)
        self._known = set(fresh)


def until_over(ask: Callable[[], CompetitionDetail]) -> CompetitionDetail:
    """Ask for a competition until its final is over, and note how far it is.

    A final that its date begins is waited for, too.  A reason for a wait is noted when it comes up.
    """
    said = time.monotonic()
    notes = WaitNotes()
    dated = False
    while True:
        view = ask()
        coming = view.status in ("open", "frozen") and view.final_ms is not None
        if not coming and view.status != "running":
            return view
        if coming and not dated and view.final_ms is not None:
            begin = minute(view.final_ms, view.zone)
            note(f"{view.name} is {view.status}: its final is to begin {begin}.")
            dated = True
        notes.tell(view)
        if not coming and time.monotonic() - said >= NEWS:
            said = time.monotonic()
            finished = sum(game.finished for game in view.progress)
            planned = sum(game.planned for game in view.progress)
            note(f"{finished} of {counted(planned, 'match', 'matches')} played.")
        time.sleep(POLL)


def _print_entries(entries: Sequence[Entry]) -> None:
    """Print the entries, and what is remarkable about some of them."""
    rows = [
        [
            each.entry,
            each.version or "-",
            each.digest[:8] or "-",
            _status(each),
            "hosted" if each.hosted else "yes" if each.connected else "no",
        ]
        for each in entries
    ]
    columns = ["entry", "version", "digest", "status", "connected"]
    print_table("Entries", columns, rows, "lllll")
    for each in entries:
        if each.next_version or each.next_digest:
            later = " ".join(filter(None, (each.next_version, each.next_digest[:8])))
            note(f"{each.entry}: a rerun plays with version {later}.")
    for each in entries:
        if each.days_late:
            note(f"{each.entry}: {late_words(each.days_late, each.penalty)}.")


@click.command()
@competition_argument()
@on_server
@click.option("--wait", is_flag=True, help="Wait until its final is over.")
@json_option()
def status(name: str, server: Server, wait: bool, as_json: bool) -> None:
    """Show students, entries and progress of the final."""

    def ask() -> CompetitionDetail:
        return server.request(competition_calls.competition(name))

    view = until_over(ask) if wait else ask()
    if as_json:
        print_json(view)
        return
    dates = [
        f"{what} {minute(at_ms, view.zone)}"
        for what, at_ms in (
            ("opens", view.opens_ms),
            ("freeze", view.freezes_ms),
            ("final", view.final_ms),
        )
        if at_ms is not None
    ]
    click.echo(f"{view.name} is {view.status}" + (f" ({', '.join(dates)})" if dates else ""))
    active = [each for each in view.students if each.status == "active"]
    entered = {each.entry.partition("/")[0] for each in view.entries if not each.baseline}
    idle = [each.student for each in active if each.student not in entered]
    click.echo(f"{counted(len(active), 'student')}, {len(idle)} without an entry")
    if view.entries:
        _print_entries(view.entries)
    rows = [[each.game, str(each.finished), str(each.planned)]
            for each in view.progress]  # fmt: skip
    print_table("Final", ["game", "played", "matches"], rows, "lrr")
    played = any(game.finished for game in view.progress)
    board = server.request(competition_calls.table(name)) if played else None
    for reason in game_notes(view, board.notes if board is not None else ()):
        note(reason)
    if view.practice:
        _print_practice(server, view)
    if view.note:
        note(f"Not yet: {view.note}.")
    for told in (*view.checks, *view.warnings):
        note(told)
    if view.status in IN_FINAL:
        _print_next(server.request(competition_calls.next_pairings(name)))
    if board is not None:
        print_board(board)
        print_certainty(server.request(competition_calls.certainty(name)))
