"""Competitions with a class, as awaitable methods: `plyhouse.storage.store.Store.classes`.

Each method is one transaction.  A running server reads of changes in the audit log, so they can
come from its API or from elsewhere.  Raises `ClassRefusal` (with a code of its own) for what the
rules of the competition do not allow, and `Unknown` for what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from sqlalchemy import Connection

from plyhouse.storage import (
    announcements,
    class_bots,
    class_changes,
    class_codes,
    class_copies,
    class_finals,
    class_losses,
    class_people,
    class_practice,
    class_privacy,
    class_results,
    class_sql,
    class_staff,
    class_tokens,
)
from plyhouse.storage.announcements import Announcement
from plyhouse.storage.class_rows import (
    ClassCompetition,
    ClassEntry,
    ClassStudent,
    Code,
    Joined,
    Measure,
    NewMember,
    StaffMember,
    Submission,
    VersionRow,
)
from plyhouse.storage.database import Database
from plyhouse.storage.rows import By, CompetitionRow

__all__ = ["Courses"]

T = TypeVar("T")


class Courses:
    """The part of a store that knows classes; competitions go by their name or id."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def now(self) -> int:
        """The wall-clock time by which dates are kept, in ms."""
        return self._clock()

    # competitions

    async def create(
        self,
        row: ClassCompetition,
        baselines: Sequence[int],
        by: By,
        provided: Collection[int] = (),
        carry: class_copies.Carry | None = None,
    ) -> class_copies.Carried:
        """Store a competition with its games and baselines (bots); refuses a name twice.

        The server hands in the baselines that are ``provided``: they have no version yet.
        ``carry`` fills it with students of another one.
        """

        def work(connection: Connection, now: int) -> class_copies.Carried:
            class_sql.create(connection, row, baselines, by, provided)
            if carry is None:
                return class_copies.Carried()
            return class_copies.carry(connection, carry, row, by, now)

        return await self._write(work)

    async def losses(self, competition: str) -> class_losses.Losses:
        """Count what would be lost if a competition were deleted."""
        now = self._clock()
        return await self._database.read(lambda c: class_losses.losses(c, competition, now))

    async def find(self, competition: str) -> ClassCompetition:
        """Return a competition."""
        return await self._database.read(lambda c: class_sql.find(c, competition))

    async def all(self, *statuses: str) -> list[ClassCompetition]:
        """Return all competitions, newest first, of these statuses if any are given."""
        return await self._database.read(lambda c: class_sql.list_all(c, statuses))

    async def names(self, limit: int) -> list[str]:
        """Return the names of the newest competitions, and nothing else of them."""
        return await self._database.read(lambda c: class_sql.names(c, limit))

    async def move(self, competition: str, step: str, by: By) -> ClassCompetition:
        """``open``, ``freeze``, ``pause``, ``resume``, ``finish`` or ``delete`` a competition."""
        return await self._write(lambda c, now: class_sql.move(c, competition, step, by, now))

    async def change(
        self, before: ClassCompetition, after: class_changes.Changed, by: By
    ) -> ClassCompetition:
        """Store a change that was worked out for a competition as it was ``before``."""
        return await self._write(lambda c, now: class_changes.apply(c, before, after, by, now))

    async def begin(
        self,
        competition_id: str,
        rows: Sequence[CompetitionRow],
        entered: Sequence[tuple[int, int | None]],
        by: By,
    ) -> ClassCompetition:
        """Begin the final: one row for each game, in their order; bots with their versions."""
        return await self._write(
            lambda c, now: class_sql.begin(c, competition_id, rows, entered, by, now)
        )

    async def rehearse(self, row: ClassCompetition, bot_ids: Sequence[int], by: By) -> None:
        """Store a rehearsal, with these of the entries of the competition that it rehearses.

        Raises `ClassRefusal` if there is a competition of its name.
        """
        await self._write(lambda c, now: class_finals.rehearse(c, row, bot_ids, by))

    async def practice_status(self, practice_id: str) -> str | None:
        """Return the status of a practice ladder, ``deleted`` too; None if it never was there."""
        return await self._database.read(lambda c: class_practice.status(c, practice_id))

    async def begin_practice(
        self, row: ClassCompetition, parts: Sequence[CompetitionRow], by: By
    ) -> ClassCompetition:
        """Store a practice ladder and begin it; raises `ClassRefusal` if its name is taken."""
        return await self._write(
            lambda c, now: class_practice.begin_practice(c, row, parts, by, now)
        )

    async def resume_practice(self, practice_id: str, by: By) -> list[CompetitionRow]:
        """Let a practice ladder that is over go on; return its games."""
        return await self._write(
            lambda c, now: class_practice.resume_practice(c, practice_id, by, now)
        )

    async def follow(self, practice_id: str, bots: Collection[int]) -> bool:
        """Give a practice ladder the students and entries of its competition.

        ``bots`` are those that play on it.  Returns whether anything has changed.
        """
        behind = await self._database.read(lambda c: class_practice.is_behind(c, practice_id, bots))
        if behind:
            await self._write(lambda c, now: class_practice.follow(c, practice_id, bots, now))
        return behind

    async def rerun(
        self, competition: str, by: By
    ) -> tuple[ClassCompetition, list[CompetitionRow]]:
        """Let the final of a finished competition run again; return its games, too."""
        return await self._write(lambda c, now: class_finals.rerun(c, competition, by, now))

    async def finish_if_done(self, competition_id: str) -> bool:
        """Note that a running competition is finished, if all of its games are."""
        return await self._write(lambda c, now: class_sql.finish_if_done(c, competition_id, now))

    async def note(self, competition_id: str, text: str | None) -> None:
        """Keep why something could not happen by itself."""
        await self._write(lambda c, now: class_sql.note(c, competition_id, text))

    async def game_of(self, competition_id: str) -> str | None:
        """Return the id of the competition with a class that this one is a game of, if it is."""
        return await self._database.read(lambda c: class_sql.game_of(c, competition_id))

    async def finals(
        self, player_id: int | None, known: Collection[str] = ()
    ) -> class_privacy.Finals:
        """Return which finals have begun, and in which of them a player is a student."""
        return await self._database.read(lambda c: class_privacy.finals(c, player_id, known))

    async def final_state(self, competition_id: str) -> class_results.State:
        """Return how far a final is."""
        return await self._database.read(lambda c: class_results.state(c, competition_id))

    async def extent(self, competition_id: str) -> class_results.Extent:
        """Return how many matches one game of a final has."""
        return await self._database.read(lambda c: class_results.extent(c, competition_id))

    async def voided_by(self, competition_id: str) -> dict[str, int]:
        """Return how many matches of one game machines were too busy for, by the machine."""
        return await self._database.read(lambda c: class_results.voided_by(c, competition_id))

    async def excused(self, competition_id: str, version_id: int) -> bool:
        """Return whether a match of a version is void because its machine was too busy."""
        return await self._database.read(
            lambda c: class_results.excused(c, competition_id, version_id)
        )

    async def final_seats(self, competition_id: str) -> list[class_results.FinalSeat]:
        """Return every seat of every finished match of a final, in the order they ended."""
        return await self._database.read(lambda c: class_results.played(c, competition_id))

    async def courses(self, match_ids: Sequence[str]) -> dict[str, list[tuple[str, int, str]]]:
        """Return what seats and chance did in some hundred matches: kind, seat and text."""
        return await self._database.read(lambda c: class_results.courses(c, match_ids))

    async def slowest_plies(
        self, competition_id: str, bot_ids: Sequence[int], most: int
    ) -> list[class_results.PlyTime]:
        """Return the plies of a final on which these bots thought longest."""
        return await self._database.read(
            lambda c: class_results.slowest(c, competition_id, bot_ids, most)
        )

    async def entries(self, competition_id: str) -> list[ClassEntry]:
        """Return the entries, baselines first."""
        return await self._database.read(lambda c: class_sql.entries_of(c, competition_id))

    async def played_entries(
        self, competition_id: str, *, replaced: bool = False
    ) -> list[ClassEntry]:
        """Return the entries with the versions that the results of the final are of."""
        return await self._database.read(
            lambda c: class_finals.played_entries(c, competition_id, replaced=replaced)
        )

    async def measure(self, game: str, time_control: str) -> Measure:
        """Return how long the latest matches of a game took here."""
        return await self._database.read(lambda c: class_sql.measure(c, game, time_control))

    # staff

    async def role(self, competition_id: str, player_id: int) -> str | None:
        """Return the role of an organiser in a competition; every one's is owner without an owner.

        None for no role.
        """
        return await self._database.read(lambda c: class_staff.role(c, competition_id, player_id))

    async def closed_to(self, player_id: int) -> frozenset[str]:
        """Return the ids of the competitions with owners in which a player has no role."""
        return await self._database.read(lambda c: class_staff.closed_to(c, player_id))

    async def bot_roles(
        self, player_id: int, bot_ids: Collection[int]
    ) -> dict[int, list[str | None]]:
        """Return the roles of an organiser in the competitions of each bot that is in some."""
        return await self._database.read(lambda c: class_staff.bot_roles(c, player_id, bot_ids))

    async def staff(self, competition: str) -> list[StaffMember]:
        """Return the staff of a competition, owners first."""
        return await self._database.read(lambda c: class_staff.staff_of(c, competition))

    async def add_staff(
        self, competition: str, player: str, role: str, by: By
    ) -> tuple[StaffMember, bool]:
        """Give a player a role; say whether it has a token with which it can use that role."""
        return await self._write(
            lambda c, now: class_staff.add(c, competition, player, role, by, now)
        )

    async def remove_staff(self, competition: str, player: str, by: By) -> str:
        """Take a player's role away; return the player's name."""
        return await self._write(lambda c, now: class_staff.remove(c, competition, player, by, now))

    # students

    async def take_in(
        self,
        competition: str,
        people: Sequence[NewMember],
        by: By,
        late_ms: int | None = None,
        *,
        adopt: Collection[str] = (),
    ) -> list[Joined]:
        """Take people in, all or none; doing so again changes nothing.

        Accounts that were there before are refused, but for those of ``adopt`` (``*``: all).
        """
        return await self._write(
            lambda c, now: class_people.take_in(c, competition, people, by, now, late_ms, adopt)
        )

    async def join(
        self, code: str, name: str, player_id: int | None
    ) -> tuple[ClassCompetition, Joined]:
        """Join by a code, with an account that there is or a new one of that name."""
        return await self._write(lambda c, now: class_codes.join(c, code, name, player_id, now))

    async def students(self, competition: str) -> list[ClassStudent]:
        """Return the students by name."""
        return await self._database.read(lambda c: class_people.students_of(c, competition))

    async def extend(self, competition: str, account: str, until_ms: int, by: By) -> str:
        """Let one student submit until a later time."""
        return await self._write(
            lambda c, now: class_people.extend(c, competition, account, until_ms, by, now)
        )

    async def allow(self, competition: str, most: int, by: By) -> str:
        """Let a competition have so many students, whatever its file says; return its name."""
        return await self._write(lambda c, now: class_people.allow(c, competition, most, by, now))

    async def leave(self, competition: str, account: str, by: By) -> tuple[str, list[int]]:
        """Take a student out; return its account and the bots that leave."""
        return await self._write(
            lambda c, now: class_people.leave(c, competition, account, by, now)
        )

    async def restore(self, competition: str, account: str, by: By) -> str:
        """Let a student back in that was taken out."""
        return await self._write(
            lambda c, now: class_people.restore(c, competition, account, by, now)
        )

    async def disqualify(self, competition: str, who: str, by: By) -> tuple[str, list[int]]:
        """Disqualify a student, or one entry ``player/bot``; return the bots that leave."""
        return await self._write(
            lambda c, now: class_people.disqualify(c, competition, who, by, now)
        )

    async def reissue_token(self, competition: str, account: str, member: str, by: By) -> Joined:
        """Revoke the token that a student got from its class, and return a new one."""
        return await self._write(
            lambda c, now: class_tokens.reissue_token(c, competition, account, member, by, now)
        )

    # codes

    async def add_code(
        self,
        competition: str,
        by: By,
        *,
        uses: int,
        expires_ms: int | None = None,
        group: str = "",
        late_ms: int | None = None,
    ) -> Code:
        """Make a code by which so many can join."""
        return await self._write(
            lambda c, now: class_codes.add_code(
                c, competition, uses, expires_ms, group, late_ms, by, now
            )
        )

    async def codes(self, competition: str) -> list[Code]:
        """Return all codes of a competition."""
        return await self._database.read(lambda c: class_codes.codes_of(c, competition))

    async def class_of_code(self, code: str) -> str:
        """Return the id of the competition that a code is for; raises `Unknown`."""
        return await self._database.read(lambda c: class_codes.class_of(c, code))

    async def revoke_code(self, code: str, by: By) -> None:
        """Let nobody in by a code any more."""
        await self._write(lambda c, now: class_codes.revoke_code(c, code, by, now))

    # announcements

    async def announce(self, competition: str, text: str, by: By) -> Announcement:
        """Publish an announcement of the staff."""
        return await self._write(
            lambda c, now: announcements.announce(c, competition, text, by, now)
        )

    async def announcements(self, class_id: str) -> list[Announcement]:
        """Return the announcements of a competition (by its id), newest first."""
        return await self._database.read(lambda c: announcements.list_of(c, class_id))

    async def remove_announcement(self, competition: str, number: int, by: By) -> None:
        """Remove an announcement by its number."""
        await self._write(lambda c, now: announcements.remove(c, competition, number, by, now))

    # versions

    async def versions(self, player_id: int, bot: str = "") -> list[VersionRow]:
        """Return the versions of a player's bots, the newest first."""
        return await self._database.read(lambda c: class_bots.versions_of(c, player_id, bot))

    async def submit(self, player_id: int, bot_id: int, version_id: int) -> None:
        """Enter a bot that is connected, where its student may enter one more."""
        await self._write(lambda c, now: class_bots.submit(c, player_id, bot_id, version_id, now))

    async def first_seen(self, version_ids: Collection[int]) -> dict[int, int]:
        """Return when the server saw each of these versions first, in ms."""
        return await self._database.read(lambda c: class_bots.first_seen(c, version_ids))

    async def last_digests(self, bot_ids: Collection[int]) -> dict[int, str]:
        """Return what the newest version of each of these bots holds."""
        return await self._database.read(lambda c: class_bots.last_digests(c, bot_ids))

    async def submissions(self, player_id: int) -> list[Submission]:
        """Return what a student has entered."""
        return await self._database.read(lambda c: class_bots.submissions(c, player_id))

    async def enter(
        self, competition: str, player_id: int, bot: str, version: str = "", replaces: str = ""
    ) -> ClassEntry:
        """Let a student choose which of its bots and versions plays."""
        return await self._write(
            lambda c, now: class_bots.enter(c, competition, player_id, bot, version, replaces, now)
        )

    async def _write(self, work: Callable[[Connection, int], T]) -> T:
        now = self._clock()
        return await self._database.write(lambda connection: work(connection, now))
