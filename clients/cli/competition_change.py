"""``plyhouse competition change|unfreeze|file|copy``: competitions that there are already."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.errors import EXIT_REFUSED, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    COMPETITION,
    Server,
    competition_argument,
    confirm,
    on_server,
    read_text,
)
from plyhouse.clients.shared.output import counted, note
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import Change


def refuse_unfit_options(references: Mapping[str, str]) -> None:
    """Raise `InvalidCompetition` for options that a reference bot does not take.

    ``references`` are bots with their options, by their keys in the competition file.  The bots
    are loaded, which a server does not do.
    """
    from plyhouse.bots.loading import BotLoadError, bot_options, load_bot
    from plyhouse.server.competition_rules.file_table import InvalidCompetition, Mistake

    mistakes = []
    for key, reference in references.items():
        try:
            bot_options(reference, load_bot(reference))
        except BotLoadError as error:
            mistakes.append(Mistake("competition/unfit_baseline", key, str(error)))
    if mistakes:
        raise InvalidCompetition(mistakes)


def refuse_unfit_references(text: str) -> None:
    """Raise `InvalidCompetition` for reference bots of a file whose options are wrong.

    A file with other mistakes passes: its reader reports them.
    """
    from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition

    try:
        baselines = read_competition(text).baselines
    except InvalidCompetition:
        return
    refuse_unfit_options(
        {
            f"baselines[{number}].reference": each.reference
            for number, each in enumerate(baselines)
            if each.reference
        }
    )


@click.command()
@competition_argument("bot", "PLAYER/BOT")
@click.option(
    "--reference",
    default="",
    metavar="REFERENCE",
    help='Let this one take its place: "ismcts(simulations=200)".',
)
@on_server
@why_option(required=False)
def baseline(name: str, bot: str, reference: str, server: Server, why: str) -> None:
    """Check a baseline again, or replace it.

    PLAYER/BOT is a reference bot that the file of the competition names. This works before and
    after the freeze, and again when the final is over. A baseline that staff submitted is replaced
    by submitting another version: plyhouse submit FILE --bot BOT --competition NAME.
    """
    from plyhouse.server.competition_rules.reference_baselines import reference_problem

    if reference and not reference_problem(reference):  # else the server names the mistake
        refuse_unfit_options({"--reference": reference})
    made = server.request(competition_calls.check_baseline(name, bot, reference=reference, why=why))
    if made.status == "waiting":
        note(f"{made.bot} waits for its check: plyhouse competition status {name!r}")
    else:
        note(f"{made.bot} has passed its check before, and can play.")


@click.command()
@click.argument("values", metavar="[NAME] [FILE]", nargs=-1)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one value, as dates.freeze=2027-01-31T18:00:00Z; can be repeated.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_server
@why_option(required=False)
def change(
    values: tuple[str, ...], settings: tuple[str, ...], yes: bool, server: Server, why: str
) -> None:
    """Change an open competition.

    Give its edited FILE, or values with --set.

    First says what changes, what that affects and what is not possible any more; then asks.
    Students read of it on the page of the competition. Without NAME, the competition is the one
    that FILE names. `--set KEY=` takes a value out. `plyhouse competition file` prints the file.
    """
    name, place = _which(values, settings)
    text = None
    if place is not None:
        text = read_text(place)
        refuse_unfit_references(text)
        name = name or _named(text, place)
    if not name:
        raise click.UsageError(f"Give the NAME of a competition, or set {COMPETITION}.")
    there = server.request(competition_calls.competition_file(name))
    text = _with(there.file if text is None else text, settings)
    text = _with_later_final(there.file, text, yes=yes)
    proposal = competition_calls.change_competition(name, text, digest=there.digest, why=why)
    found = server.request(proposal)
    if not found.changes:
        note(f"{found.name} is like that already: nothing changes.")
        return
    _show(found)
    refused = [each.key for each in found.changes if each.refused]
    if refused:
        raise CommandError(
            f"Nothing was changed: {', '.join(refused)} cannot change now.", EXIT_REFUSED
        )
    confirm(f"Change {found.name}?", yes=yes)
    made = server.request(
        competition_calls.change_competition(name, text, apply=True, digest=there.digest, why=why)
    )
    told = "Its students read of it on its page" if made.notice else "Students are not told"
    note(f"{made.name} is changed, and {made.status}. {told}.")


def _which(values: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, Path | None]:
    """The name of a competition and the edited file, as far as they are given."""
    fallback = os.environ.get(COMPETITION, "")
    if len(values) == 2:
        name, place = values[0], Path(values[1])
    elif len(values) == 1 and (Path(values[0]).is_file() or values[0].endswith(".toml")):
        name, place = "", Path(values[0])
    elif len(values) <= 1 and settings:
        return (values[0] if values else fallback), None
    else:
        raise click.UsageError("Give the edited FILE, or values with --set KEY=VALUE.")
    if not place.is_file():
        raise CommandError(f"There is no file {place}.", EXIT_USAGE)
    return name, place


def _named(text: str, place: Path) -> str:
    """The name that a competition file says."""
    from plyhouse.server.competition_rules.file_table import InvalidCompetition, read_document

    try:
        name = read_document(text).get("name")
    except InvalidCompetition as error:
        why = error.mistakes[0].text
        raise CommandError(f"{place} is no competition file: {why}.", EXIT_USAGE) from None
    if not isinstance(name, str):
        raise CommandError(f"{place} has no name: give the competition before it.", EXIT_USAGE)
    return name


def _with(text: str, settings: tuple[str, ...]) -> str:
    """A competition file with other values."""
    import tomllib

    from plyhouse.server.competition_rules.file_table import CannotEdit, set_value

    for each in settings:
        key, equals, value = each.partition("=")
        if not equals:
            raise click.UsageError(f"--set {each} has no value; write --set {each}=VALUE.")
        try:
            tomllib.loads(f"value = {value}")
        except (tomllib.TOMLDecodeError, RecursionError):
            value = json.dumps(value, ensure_ascii=False) if value else ""
        try:
            text = set_value(text, key.strip(), value or None)
        except CannotEdit as error:
            raise CommandError(f"{error}.", EXIT_USAGE) from None
    return text


def _with_later_final(old: str, text: str, *, yes: bool) -> str:
    """Offer to move the final by as much as the freeze, if the freeze would be after it."""
    from plyhouse.server.competition_rules.dates import in_words
    from plyhouse.server.competition_rules.file_sections import (
        date_text,
        later_final,
        written_dates,
    )
    from plyhouse.server.competition_rules.file_table import (
        CannotEdit,
        InvalidCompetition,
        set_value,
    )

    try:
        dates = written_dates(text)
        later = later_final(written_dates(old), dates)
        final = dates.final
        if later is None or final is None:
            return text
        moved = set_value(text, "dates.final", date_text(later, dates))
    except (InvalidCompetition, CannotEdit):
        return text  # the server says what is wrong with it
    note(f"The new freeze is after the final ({in_words(final, dates.zone)}).")
    confirm(f"Move the final by the same time, to {in_words(later, dates.zone)}?", yes=yes)
    return moved


def renamed(text: str, name: str, now: datetime) -> str:
    """A competition file under another name, without the dates that are over."""
    from plyhouse.server.competition_rules.file_sections import DATES, written_dates
    from plyhouse.server.competition_rules.file_table import CannotEdit, set_value

    try:
        text = set_value(text, "name", json.dumps(name, ensure_ascii=False))
        dates = written_dates(text)
        for key in DATES:
            when = getattr(dates, key)
            if when is not None and when <= now:
                text = set_value(text, f"dates.{key}", None)
    except CannotEdit as error:
        raise CommandError(f"{error}.", EXIT_USAGE) from None
    return text


def _show(found: Change) -> None:
    """Print what changes, and what students read of it."""
    for each in found.changes:
        click.echo(f"{each.key}: {each.old or 'none'} -> {each.new or 'none'}")
        click.echo(f"  not possible: {each.refused}" if each.refused else f"  {each.effect}")
    if found.delays:
        click.echo(found.delays)
    if found.notice:
        click.echo("Students read:")
        for line in found.notice.splitlines():
            click.echo(f"  {line}")


@click.command()
@competition_argument()
@click.option(
    "--until", default="", metavar="TIME", help="The new freeze, as 2027-01-31T18:00:00+01:00."
)
@on_server
@why_option(required=False)
def unfreeze(name: str, until: str, server: Server, why: str) -> None:
    """Open a frozen competition again, before its final.

    Versions may change until the date of --until, or until you freeze it. Dates that are over are
    taken out of its file.
    """
    made = server.request(competition_calls.unfreeze_competition(name, until=until, why=why))
    note(f"{made.name} is open again: versions may change.")


@click.command("file")
@competition_argument()
@on_server
def print_file(name: str, server: Server) -> None:
    """Print the competition file of NAME, as it is now."""
    there = server.request(competition_calls.competition_file(name))
    click.echo(there.file, nl=not there.file.endswith("\n"))


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new_file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--codes", is_flag=True, help="Let valid codes of OLD lead into the new one.")
@click.option(
    "--submissions", is_flag=True, help="Let the entries of OLD play in the new one, too."
)
@on_server
@why_option(required=False)
def copy(
    old: str, new_file: Path, codes: bool, submissions: bool, server: Server, why: str
) -> None:
    """Open a new competition by FILE, with the students of OLD.

    They keep accounts and tokens. `plyhouse competition new NAME --from OLD` writes the file.
    Students that were taken out or disqualified, and extensions, stay behind.
    """
    if not new_file.is_file():
        raise CommandError(f"There is no file {new_file}.", EXIT_USAGE)
    text = read_text(new_file)
    refuse_unfit_references(text)
    made = server.request(
        competition_calls.copy_competition(old, text, codes=codes, submissions=submissions, why=why)
    )
    parts = [counted(made.students, "student")]
    if codes:
        parts.append(counted(made.codes, "code"))
    if submissions:
        parts.append(counted(made.entries, "entry", "entries"))
    note(f"{made.name} is {made.status}, with {', '.join(parts)} of {old}.")
