"""The types that the API of competitions sends and accepts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from plyhouse.server.competition_rules.file_reader import MAX_FILE

__all__ = [
    "BaselineChange",
    "Disqualification",
    "Extension",
    "FileText",
    "Join",
    "NewCode",
    "Step",
    "StudentLimit",
    "StudentList",
    "StudentName",
    "Submitting",
]

Why = Annotated[str, Meta(max_length=1000)]
Text = Annotated[str, Meta(max_length=200)]
Time = Annotated[str, Meta(max_length=64)]


class FileText(Struct, forbid_unknown_fields=True):
    """A competition file."""

    file: Annotated[str, Meta(max_length=4 * MAX_FILE)]
    why: Why = ""


class Step(Struct, forbid_unknown_fields=True):
    """A step of a competition."""

    why: Why = ""
    anyway: bool = False
    """To begin the final although somebody may still submit."""


class Extension(Struct, forbid_unknown_fields=True):
    """Until when one student may submit."""

    student: Text
    until: Time
    """A time with its zone: ``2027-01-31T18:00:00+01:00``."""
    why: Why = ""


class StudentLimit(Struct, forbid_unknown_fields=True):
    """How many students a competition may have, instead of what its file says."""

    students: Annotated[int, Meta(ge=1, le=10_000)]
    why: Why = ""


class Disqualification(Struct, forbid_unknown_fields=True):
    """The disqualified account, and the reason."""

    who: Text
    """A student with all entries, or one of them: ``player/bot``."""
    why: Annotated[str, Meta(min_length=1, max_length=1000)]


class StudentName(Struct, forbid_unknown_fields=True):
    """A student, by account."""

    student: Text
    why: Why = ""


class LostToken(Struct, forbid_unknown_fields=True):
    """The student whose token is replaced."""

    student: Text
    member: Annotated[str, Meta(max_length=64)] = ""
    """The person, where the account is a group's."""
    why: Why = ""


class StudentList(Struct, forbid_unknown_fields=True):
    """A list of students as CSV."""

    csv: Annotated[str, Meta(max_length=1_000_000)]
    late_until: Time = ""
    """After the freeze: until when they may submit."""
    adopt: Annotated[list[Text], Meta(max_length=10_000)] = []
    """Existing accounts that are these students'; ``*`` for all existing ones."""
    why: Why = ""


class NewCode(Struct, forbid_unknown_fields=True):
    """A code to make."""

    uses: Annotated[int, Meta(ge=1, le=10_000)]
    expires: Time = ""
    group: Text = ""
    """The account of the group that it lets members into; empty: everybody gets an own one."""
    late_until: Time = ""
    why: Why = ""


class Join(Struct, forbid_unknown_fields=True):
    """To join by a code; with a token, the account of that token joins.

    Without a token, ``player`` is the name of a new account; empty in a browser: who is signed in.
    """

    code: Annotated[str, Meta(min_length=1, max_length=32)]
    player: Annotated[str, Meta(max_length=64)] = ""


class Submitting(Struct, forbid_unknown_fields=True):
    """The version to enter."""

    bot: Text
    version: Text = ""
    """A label, or the beginning of a digest; empty: the version that connects last."""
    replace: Text = ""
    """The bot whose place it takes."""


class BaselineChange(Struct, forbid_unknown_fields=True):
    """A baseline to check again, or to replace."""

    bot: Text
    """``player/bot``."""
    reference: Text = ""
    """The reference bot that takes its place, with options; empty to check the same one again."""
    why: Why = ""
