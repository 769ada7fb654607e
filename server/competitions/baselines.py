"""Baselines of competitions: states, checks and replacement.

The server submits the reference bots that a competition file names.  It checks them in the games of
that competition only.  A reference bot needs no check if the same package has passed one in these
games on this server.  The package names the bot, its options and the version of Plyhouse.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.competitions import IN_FINAL
from plyhouse.protocol.hosting.package import Package, digest_of, pack
from plyhouse.server.accounts.builtin_bots import builtin_player
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile, encoded, file_of
from plyhouse.server.competition_rules.file_reader import (
    InvalidCompetition,
    Mistake,
    read_competition,
)
from plyhouse.server.competition_rules.reference_baselines import (
    package_of,
    reference_problem,
    with_reference,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.grades.board_statistics import differing
from plyhouse.server.version import server_version
from plyhouse.storage import (
    competition_changes,
    competition_entries,
    competition_sql,
    entry_rule,
    people,
    submission_sql,
)
from plyhouse.storage.competition_changes import Changed
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store
from plyhouse.storage.submission_rows import SubmissionRow


@dataclass(frozen=True, slots=True)
class BaselineState:
    """The state of a baseline."""

    check: str
    """``ready``, ``waiting`` (for its check), ``refused`` or ``missing``."""
    text: str = ""
    """Why it cannot play, and what to do, as a sentence without its full stop."""
    submission: int = 0
    """Its newest submission for this competition; 0 if there is none."""
    can_play: bool = True
    """True if a version of it can play in the final now."""


def states(
    row: CompetitionRow,
    entries: Sequence[CompetitionEntry],
    submissions: Sequence[SubmissionRow],
) -> dict[str, BaselineState]:
    """Return the state of each baseline by its name; ``submissions`` has the newest first."""
    newest: dict[int, tuple[SubmissionRow, str]] = {}
    for each in submissions:
        asked = next((one for one in each.competitions if one.competition_id == row.id), None)
        if asked is not None:
            newest.setdefault(each.bot_id, (each, asked.outcome))
    return {
        each.name: _state(row, each, *newest.get(each.bot_id, (None, "")))
        for each in entries
        if each.baseline
    }


def _state(
    row: CompetitionRow, entry: CompetitionEntry, found: SubmissionRow | None, outcome: str
) -> BaselineState:
    version = entry.next_id or entry.version_id
    if found is None:
        if version is not None:
            return BaselineState("ready")
        text = (
            f"{entry.name} has never connected, and nothing was submitted as it: run it, or submit "
            f"it with plyhouse submit --bot {entry.bot} --competition {row.name!r}"
        )
        return BaselineState("missing", text, can_play=False)
    # Until this submission passes its check, the version already entered keeps playing.
    other = version not in (None, found.version_id)
    still = "; until then another version plays" if other else ""
    if outcome == "":
        text = f"{entry.name} waits for its check (submission {found.id}){still}"
        return BaselineState("waiting", text, found.id, other)
    if outcome in ("refused", "games"):
        why = (
            _fault(found.report)
            if outcome == "refused"
            else f"it plays {', '.join(found.games)}, and none of the games of this competition"
        )
        text = (
            f"{entry.name} was refused by its check (submission {found.id}): {why}. Check it "
            f"again, or replace it: plyhouse competition baseline {row.name!r} {entry.name}{still}"
        )
        return BaselineState("refused", text, found.id, other)
    return BaselineState("ready", "", found.id)


def _edited(text: str, bot: str, reference: str) -> tuple[str, CompetitionFile]:
    """Return a competition file with another reference bot, as text and values."""
    changed = with_reference(text, bot, reference)
    return changed, read_competition(changed)


def _fault(report: str) -> str:
    r"""Return the first failed check of a report.

    >>> _fault("ok      loads: 1 game\nFAILED  plays pig as 0: flag fall\n1 of 2 failed.")
    'plays pig as 0: flag fall'
    """
    for line in report.splitlines():
        if line.startswith("FAILED"):
            return line.removeprefix("FAILED").strip().rstrip(".")
    return report.strip().partition("\n")[0].rstrip(".") or "it gave no reason"


class Baselines:
    """The baselines of the competitions of one server."""

    def __init__(self, config: ServerConfig, store: Store) -> None:
        self._config = config
        self._store = store

    async def mistakes(
        self, file: CompetitionFile, of: CompetitionRow | None = None
    ) -> list[Mistake]:
        """Return mistakes in a file's baselines that only a server can find.

        Twins that the competition ``of`` has already are not checked: they may have connected with
        other files since.
        """
        known = await self.known(file)
        programs = await self._store.read(entry_rule.programs, known.values())
        found = []
        for number, baseline in enumerate(file.baselines):
            name = baseline.bot.partition("/")[2]
            if baseline.reference and not self._config.hosted:
                text = "this server runs no bots for others: start it with --hosted"
                key = f"baselines[{number}].reference"
                found.append(Mistake("competition/not_hosted", key, text))
            elif baseline.reference:
                continue
            elif baseline.bot.lower() not in known:
                text = (
                    f"{baseline.bot} has never connected: submit it with plyhouse submit --bot "
                    f"{name}, or run it once with plyhouse bot run --name {name}; a "
                    'built-in bot needs reference = "random"'
                )
                found.append(
                    Mistake("competition/missing_baseline", f"baselines[{number}].bot", text)
                )
            elif known[baseline.bot.lower()] not in programs:
                text = (
                    f"{baseline.bot} is an account that plays in person, and a baseline is a bot: "
                    "run one by another name (plyhouse bot run --name NAME)"
                )
                found.append(
                    Mistake("competition/unfit_baseline", f"baselines[{number}].bot", text)
                )
            elif unplayed := await self._unplayed(file, known[baseline.bot.lower()]):
                text = f"{baseline.bot} does not play {', '.join(unplayed)}, as its check found out"
                found.append(
                    Mistake("competition/unfit_baseline", f"baselines[{number}].bot", text)
                )
        if of is not None and file.twinned == file_of(of).twinned:
            return found
        return found + await self._twins(file, known)

    async def _unplayed(self, file: CompetitionFile, bot: int) -> list[str]:
        """Return the games that the check of a bot's newest submission does not list."""
        newest = next(iter(await self._store.read(submission_sql.of, bot_id=bot)), None)
        if newest is None or newest.status != "ready":
            return []
        plays = newest.games
        return [each for each in file.games if not {each, each.partition("(")[0]} & {*plays}]

    async def _twins(self, file: CompetitionFile, known: Mapping[str, int]) -> list[Mistake]:
        """Return mistakes for twins whose last connected files differ."""
        twins = [
            each
            for each in file.twinned
            if {each.bot.lower(), each.twin_of.lower()} <= known.keys()
        ]
        digests = (
            await self._store.read(competition_entries.last_digests, known.values())
            if twins
            else {}
        )
        found = []
        for each in twins:
            of, own = known[each.twin_of.lower()], known[each.bot.lower()]
            text = differing(each.twin_of, digests.get(of, ""), each.bot, digests.get(own, ""))
            if text:
                key = f"baselines[{file.baselines.index(each)}].twin_of"
                found.append(Mistake("competition/twin_differs", key, text))
        return found

    async def known(self, file: CompetitionFile) -> dict[str, int]:
        """Return the ids of the file's baselines that exist, by lower-case name."""
        names = {baseline.bot.lower() for baseline in file.baselines}
        owners = {name.partition("/")[0] for name in names}
        bots = await self._store.read(people.bots_of, owners) if owners else []
        return {
            name: bot.id for bot in bots if (name := f"{bot.player}/{bot.name}".lower()) in names
        }

    async def provided(
        self, file: CompetitionFile, *, besides: CompetitionFile | None = None
    ) -> dict[str, tuple[Bot, Package]]:
        """Return a file's reference bots with packages, by lower-case name.

        Bots that ``besides`` also names are left out, because they are submitted already.  Raises
        `InvalidCompetition` for a name that does not belong to the server's own player.
        """
        there = () if besides is None else besides.baselines
        same = {(each.bot.lower(), each.reference) for each in there}
        named = [
            each
            for each in file.baselines
            if each.reference and (each.bot.lower(), each.reference) not in same
        ]
        return {each.bot.lower(): await self._provided(file, each) for each in named}

    async def _provided(self, file: CompetitionFile, baseline: Baseline) -> tuple[Bot, Package]:
        """Return a reference bot of a file with its package."""
        owner = await builtin_player(self._store)
        player, _, name = baseline.bot.partition("/")
        at = f"baselines[{file.baselines.index(baseline)}]"
        if player.lower() != owner.name.lower():
            text = f"built-in bots belong to {owner.name} here: {owner.name}/{name}"
            raise InvalidCompetition([Mistake("competition/bad_value", f"{at}.bot", text)])
        if gone := reference_problem(baseline.reference):  # of another version of Plyhouse
            text = f"{gone}. Replace it: plyhouse competition baseline --reference NAME"
            raise InvalidCompetition([Mistake("competition/bad_value", f"{at}.reference", text)])
        bot = await self._store.ensure_bot(owner.id, name, "bot")
        return bot, package_of(baseline.reference, server_version())

    async def queue_check(
        self,
        row: CompetitionRow,
        bot: Bot,
        package: Package,
        *,
        again: bool = False,
    ) -> SubmissionRow:
        """Submit a reference bot for its check; ``again`` if one that it passed is not enough."""
        return await self._store.submissions.add(
            bot.id,
            "",
            digest_of(package),
            pack(package),
            self._store.now(),
            competition=row.id,
            games=[each.game for each in row.games],
            again=again,
        )

    async def states(
        self, row: CompetitionRow, entries: Sequence[CompetitionEntry]
    ) -> dict[str, BaselineState]:
        """Return the state of each baseline of a competition, by its name."""
        if not any(each.baseline for each in entries):
            return {}
        return states(
            row,
            entries,
            await self._store.read(submission_sql.of, competition_id=row.id, baselines=True),
        )

    async def check_again(
        self, reference: str, bot: str, by: By, *, replace_by: str = ""
    ) -> SubmissionRow:
        """Check a reference bot of a competition again, or replace it by another.

        ``replace_by`` is the other reference bot with its options; the competition file then names
        that one.  Raises `CompetitionRefusal`, `Unknown`, and
        `InvalidCompetition` for an unfit bot.
        """
        row = await self._store.read(competition_sql.find, reference)
        file = file_of(row)
        known = {each.bot.lower(): each for each in file.baselines}
        baseline = known.get(bot.lower())
        if baseline is None:
            listed = ", ".join(each.bot for each in file.baselines) or "none"
            raise Unknown(f"{bot!r} is no baseline of {row.name!r}; its baselines: {listed}")
        if row.status in IN_FINAL:
            raise CompetitionRefusal(
                "competition/begun",
                f"{row.name!r} is {row.status}: its baselines change no more until it is over",
            )
        if not baseline.reference:
            raise CompetitionRefusal(
                "competition/not_provided",
                f"{baseline.bot} is no reference bot of the server: submit it again, with the "
                f"token of {baseline.bot.partition('/')[0]}: plyhouse submit FILE --bot "
                f"{baseline.bot.partition('/')[2]} --competition {row.name!r}",
            )
        if replace_by and replace_by != baseline.reference:
            row, file = await self._replaced(row, baseline, replace_by, by)
        (now,) = [each for each in file.baselines if each.bot.lower() == bot.lower()]
        bot_row, package = await self._provided(file, now)
        return await self.queue_check(row, bot_row, package, again=not replace_by)

    async def _replaced(
        self, row: CompetitionRow, baseline: Baseline, reference: str, by: By
    ) -> tuple[CompetitionRow, CompetitionFile]:
        text, file = await asyncio.to_thread(_edited, row.file, baseline.bot, reference)
        why = by.why or f"{baseline.bot}: {baseline.reference} -> {reference}"
        changed = Changed(
            replace(row, file=text, parsed=encoded(file)), (), step="competition.baseline"
        )
        return await self._store.write(
            competition_changes.apply, row, changed, By(by.who, why), self._store.now()
        ), file
