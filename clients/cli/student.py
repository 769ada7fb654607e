"""``plyhouse student`` and ``plyhouse join``: a class and how one gets into it."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.cli.competition import read_text
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import (
    Server,
    competition_option,
    confirm,
    json_option,
    on_server,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import counted, minute, note, print_json, print_table
from plyhouse.clients.shared.token_files import secret_writer
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import Joining


@click.command()
@click.argument("account")
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_server
@why_option(required=False)
def erase(account: str, yes: bool, server: Server, why: str) -> None:
    """Erase a student for ever.

    ACCOUNT is a student or a group; it is erased in all competitions.

    A pseudonym stands for the account, its members and its bots from then on. Tokens, packages,
    requests and what its bots printed are deleted. Results stay. docs/privacy.md says what cannot
    be erased.
    """
    from plyhouse.protocol.api import administration_calls

    confirm(f"Erase {account} on {server} for ever?", yes=yes)
    made = server.request(administration_calls.erase_player(account, why=why))
    gone = ", ".join(made.competitions)
    note(
        f"{account} is called {made.pseudonym} now, and keeps "
        f"{counted(made.matches, 'match', 'matches')}." + (f" It left {gone}." if gone else "")
    )


@click.command("export-data")
@click.argument("account")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a file that only you can read.  [default: standard output]",
)
@on_server
def export_data(account: str, output: Path | None, server: Server) -> None:
    """Export everything that is stored about ACCOUNT, as JSON.

    Students export their own data with their own token.
    """
    from plyhouse.protocol.api import administration_calls

    found = server.request(administration_calls.stored_data(account))
    with secret_writer(output) as write:
        write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


late_option = click.option(
    "--late-until",
    default="",
    metavar="TIME",
    help="After the freeze: until when they may submit, as 2027-01-31T18:00:00+01:00.",
)


adopt_option = click.option(
    "--adopt",
    multiple=True,
    metavar="ACCOUNT",
    help="Existing account that is this student's; can be repeated.",
)

token_file_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the token to this new file.  [default: standard output]",
)


@click.group(cls=HintingGroup)
def student() -> None:
    """Add students to a competition.

    Students who join by a code need no list: see `plyhouse code create`.

    These commands need a server and the token of an organiser: see `plyhouse login`.
    """


student.add_command(erase)
student.add_command(export_data)


@student.command("import")
@click.argument("list_file", metavar="LIST", type=click.Path(path_type=Path, dir_okay=False))
@competition_option()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the sheet of tokens here, readable by you only.  [default: standard output]",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one file for each student here instead.",
)
@adopt_option
@click.option("--adopt-all", is_flag=True, help="Adopt all existing accounts of the list.")
@late_option
@on_server
@why_option(required=False)
def import_list(
    list_file: Path,
    competition: str,
    output: Path | None,
    folder: Path | None,
    adopt: tuple[str, ...],
    adopt_all: bool,
    late_until: str,
    server: Server,
    why: str,
) -> None:
    """Add the students of a CSV file.

    LIST has the columns name, email, group, institution_id and login.

    All but the first may be missing. Each new student gets a token, shown only now: on one
    sheet, or in one file each. Members of a group share an account, and have a token each. The same
    list again, or a longer one, adds only new students, and updates e-mail addresses and ids of the
    others. A list with a bad line is refused whole.

    A list is also refused if another account has one of its names already, because anybody may have
    taken it: --adopt says that it is your student's. It keeps its tokens, and gets no new one.
    """
    from plyhouse.server.competition_rules.class_list import people_left_out

    if output is not None and folder is not None:
        raise CommandError("Give --output or --folder, not both.", EXIT_USAGE)
    text = read_text(list_file)
    names = ("*",) if adopt_all else adopt
    _take_in(server, competition, text, late_until, why, output, folder, names)
    if left := people_left_out(text):
        shown = ", ".join(left[:10]) + (f" and {len(left) - 10} more" if len(left) > 10 else "")
        note(f"Left out, as the export does not have them as students: {shown}.")


@student.command()
@click.argument("name")
@competition_option()
@click.option("--email", default="", help="E-mail address, for your own lists.")
@click.option("--group", default="", help="The group that the student is in.")
@click.option("--id", "institution_id", default="", help="The student's id at your institution.")
@click.option("--login", default="", help="The student's login at your institution.")
@adopt_option
@late_option
@on_server
@why_option(required=False)
def add(
    name: str,
    competition: str,
    email: str,
    group: str,
    institution_id: str,
    login: str,
    adopt: tuple[str, ...],
    late_until: str,
    server: Server,
    why: str,
) -> None:
    """Add one student, also a late one.

    Prints the token as `import` does.
    """
    row = io.StringIO()
    head = ["name", "email", "group", "institution_id", "login"]
    csv.writer(row).writerows([head, [name, email, group, institution_id, login]])
    _take_in(server, competition, row.getvalue(), late_until, why, None, None, adopt)


def _take_in(
    server: Server,
    competition: str,
    text: str,
    late_until: str,
    why: str,
    output: Path | None,
    folder: Path | None,
    adopt: tuple[str, ...],
) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    call = competition_calls.take_in(
        competition, csv=text, late_until=late_until, why=why, adopt=list(adopt)
    )
    with secret_writer(output) as write:
        joined = server.request(call)
        fresh = [each for each in joined if each.token]
        if folder is not None:
            for each in fresh:
                _write_one(folder, each, server.address)
        elif fresh or output is not None:
            write(_sheet(fresh))
    _tell(joined)


def _sheet(rows: Sequence[Joining]) -> str:
    from plyhouse.server.grades.standings_files import table_csv

    # A spreadsheet opens it, and students may have chosen these names: none may be a formula there.
    head = ["name", "account", "token"]
    return table_csv(head, [[each.name, each.account, each.token] for each in rows])


def _write_one(folder: Path, row: Joining, server: str) -> None:
    from plyhouse.server.competition_rules.class_list import account_name, is_account_of

    alone = is_account_of(row.account, row.name)
    title = row.account if alone else f"{row.account}.{account_name(row.name)}"
    place, number = folder / f"{title}.txt", 1
    while place.exists():  # of an earlier import: that token is valid, too
        number += 1
        place = folder / f"{title}-{number}.txt"
    text = (
        f"Your account on {server} is {row.account}.\n\n"
        f"export PLYHOUSE_SERVER={server}\nexport PLYHOUSE_TOKEN={row.token}\n"
    )
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _tell(joined: Sequence[Joining]) -> None:
    count = {
        what: sum(each.outcome == what for each in joined)
        for what in ("new", "known", "present", "revoked")
    }
    said = [f"{count['new']} new"]
    if count["known"]:
        said.append(f"{count['known']} with an account of before, which keeps its tokens")
    if count["present"]:
        said.append(f"{count['present']} there already")
    if count["revoked"]:
        said.append(f"{count['revoked']} taken out before, and left out: see student restore")
    note(f"{counted(len(joined), 'student')}: {', '.join(said)}.")
    if joined and joined[0].delays:
        note(joined[0].delays)


@student.command("list")
@competition_option()
@on_server
@json_option()
def list_students(competition: str, server: Server, as_json: bool) -> None:
    """List the students of a competition."""
    rows = server.request(competition_calls.students(competition))
    if as_json:
        print_json(rows)
        return
    if not rows:
        note(f"No students in {competition} yet.")
        return
    zone = ""
    if any(each.extended_ms for each in rows):
        zone = server.request(competition_calls.competition(competition)).zone
    cells = [
        [
            each.student,
            each.display or "-",
            ", ".join(member.name for member in each.members),
            each.status,
            minute(each.extended_ms, zone) if each.extended_ms else "-",
        ]
        for each in rows
    ]
    columns = ["account", "shown as", "members", "status", "may submit until"]
    print_table("Students", columns, cells, "llwll")


@student.command()
@click.argument("students", type=click.IntRange(1, 10_000))
@competition_option()
@on_server
@why_option(required=False)
def limit(students: int, competition: str, server: Server, why: str) -> None:
    """Set the number of students that may join.

    It overrides the competition file. A group counts once.
    """
    server.request(competition_calls.limit_students(competition, students, why=why))
    note(f"{competition} takes up to {counted(students, 'student')}.")


@student.command()
@click.argument("account")
@competition_option()
@on_server
@why_option()
def withdraw(account: str, competition: str, server: Server, why: str) -> None:
    """Withdraw a student with all entries.

    The account and the results stay.
    """
    gone = server.request(competition_calls.withdraw(competition, account, why=why))
    note(f"{account} is out of {competition}, with {counted(len(gone), 'entry', 'entries')}.")


@student.command()
@click.argument("account")
@competition_option()
@on_server
@why_option(required=False)
def restore(account: str, competition: str, server: Server, why: str) -> None:
    """Restore a withdrawn student."""
    server.request(competition_calls.restore(competition, account, why=why))
    note(f"{account} is in {competition} again.")


@student.command("reissue-token")
@click.argument("account")
@competition_option()
@click.option("--member", default="", metavar="NAME", help="The person, where ACCOUNT is a group.")
@token_file_option
@on_server
@why_option(required=False)
def reissue_token(
    account: str, competition: str, member: str, output: Path | None, server: Server, why: str
) -> None:
    """Replace a student's lost token.

    Revokes the old token of ACCOUNT and prints a new one.

    The new token stands alone on standard output, or in the file of --output. Connections that
    were opened with the old token are closed; running matches go on. An account that the student
    had before joining gets its tokens from an administrator: plyhouse token create.
    """
    with secret_writer(output) as write:
        call = competition_calls.reissue_token(competition, account, member=member, why=why)
        made = server.request(call)
        where = f"is in {output}." if output is not None else "is shown only now:"
        note(f"The old token of {made.name} is revoked. The new one {where}")
        write(f"{made.token}\n")


@click.command()
@click.argument("code_text", metavar="CODE")
@server_option()
@click.option("--player", default="", metavar="NAME", help="The account to make, or who you are.")
@token_file_option
@token_option()
def join(code_text: str, server: str, player: str, output: Path | None, token: str | None) -> None:
    """Join a competition by a code.

    Makes the account NAME and writes its token to the file of --output, or alone to standard
    output. The file must not exist, and is written only when you are in. To join with an account
    that you have, leave --player out and give its token. With the code of a group, NAME becomes a
    member of it.
    """
    from plyhouse.clients.shared.http import ask

    # A name asks for a new account, also if the environment has a token.
    own = None if player else token
    with secret_writer(output) as write:
        answer = ask(server, competition_calls.join(code_text, player=player), own)
        if answer.token:
            where = f"is in {output}." if output is not None else "is shown only now:"
            note(f"You are {answer.account} in {answer.name}. Your token {where}")
            write(f"{answer.token}\n")
            if output is not None:
                note(
                    f"Log in with it: plyhouse login --server {server} < {shlex.quote(str(output))}"
                )
        else:
            note(f"{answer.account} is in {answer.name}, and keeps its token.")
