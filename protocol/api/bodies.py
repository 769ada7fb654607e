"""The bodies of requests of the HTTP API: what a client sends, and what a server accepts.

Unknown fields are errors: a misspelt one would change nothing, and nobody would notice.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from plyhouse.protocol.parts import (
    LONGEST_DISPLAY,
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_SECRET,
    Digest,
)

MAX_FILE: Final = 32_768
"""The longest competition file, in characters."""
MOST_OF_A_LEVEL: Final = 5
"""Most built-in bots of one level at one table; each is a process."""
LONGEST_ANNOUNCEMENT: Final = 4000
LONGEST_REGRADE: Final = 2000

LONGEST_STORED_LABEL: Final = 100
"""Characters of a token's or a stored version's label."""
LONGEST_WHY: Final = 1000
"""Characters of a reason, for the audit log."""
LONGEST_CODE: Final = 32
"""Characters of a join code."""
LONGEST_REFERENCE: Final = 200
"""Characters of what means a student, an entry, a version or a reference bot with its options."""

Why = Annotated[str, Meta(max_length=LONGEST_WHY)]
NeededWhy = Annotated[str, Meta(min_length=1, max_length=LONGEST_WHY)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
# Names up to twice as long as allowed are read, so that the answer says what is allowed.
NewName = Annotated[str, Meta(min_length=1, max_length=2 * LONGEST_NAME)]
Secret = Annotated[str, Meta(max_length=LONGEST_SECRET)]
Display = Annotated[str, Meta(max_length=2 * LONGEST_DISPLAY)]
Text = Annotated[str, Meta(max_length=LONGEST_REFERENCE)]
Time = Annotated[str, Meta(max_length=64)]


class Exclusion(Struct, forbid_unknown_fields=True):
    """Why somebody is shut out."""

    why: NeededWhy
    keep_matches: bool = False
    """Play running matches on (without a connection they end by the clock), or forfeit them."""


class Reason(Struct, forbid_unknown_fields=True):
    """NeededWhy something is done."""

    why: NeededWhy


class Renaming(Struct, forbid_unknown_fields=True):
    """A player's new name."""

    name: NewName
    why: NeededWhy


class Revocation(Struct, forbid_unknown_fields=True):
    """A token to revoke."""

    token: Annotated[str, Meta(min_length=5, max_length=128)]
    """The token, or the beginning of it that is shown."""
    why: NeededWhy
    keep_matches: bool = True


class Reinstatement(Struct, forbid_unknown_fields=True):
    """Which version is let in again, and why."""

    why: NeededWhy
    version: Annotated[str, Meta(max_length=LONGEST_STORED_LABEL)] = ""
    """Its label, or the beginning of its digest; empty: all of the bot."""


class Erasing(Struct, forbid_unknown_fields=True):
    """A request to erase a person, with the reason for the audit log."""

    why: Why = ""


class NewPlayer(Struct, forbid_unknown_fields=True):
    """A request for an account."""

    player: NewName
    display: Display = ""
    """How it wants to be called beside its name."""


class PlayerChange(Struct, forbid_unknown_fields=True):
    """The settings that a player may change."""

    display: Display
    """How it wants to be called beside its name, in any script; empty: not at all."""


class SignIn(Struct, forbid_unknown_fields=True):
    """The credentials of a login: a token alone, or the name of a player and the password."""

    token: Secret = ""
    player: Annotated[str, Meta(max_length=LONGEST_NAME)] = ""
    password: Annotated[str, Meta(max_length=1024)] = ""


class SignUp(Struct, forbid_unknown_fields=True):
    """A new account with a password."""

    player: NewName
    password: Secret
    display: Display = ""


class NewPassword(Struct, forbid_unknown_fields=True):
    """Another password; ``old`` is empty if there was none."""

    new: Secret
    old: Annotated[str, Meta(max_length=1024)] = ""


class NewToken(Struct, forbid_unknown_fields=True):
    """The purpose of a token."""

    label: Annotated[str, Meta(max_length=LONGEST_STORED_LABEL)] = "browser"


class Wanted(Struct, forbid_unknown_fields=True):
    """Which built-in bots to play against."""

    level: Annotated[str, Meta(max_length=32)]
    count: Annotated[int, Meta(ge=1, le=MOST_OF_A_LEVEL)] = 1
    """How many of them, for a game with so many seats and one more."""


class PlayWanted(Struct):
    """Somebody wants to play against a bot."""

    opponent: str
    """``player/bot``."""
    game: str


class FileText(Struct, forbid_unknown_fields=True):
    """A competition file."""

    file: Annotated[str, Meta(max_length=4 * MAX_FILE)]
    why: Why = ""


class NewCompetition(FileText, forbid_unknown_fields=True):
    """A competition file, with the entries of a competition without students."""

    entries: list[str] = []
    """Names like ``player/bot``; ``*`` stands for all connected bots that play its games."""


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


class Withdrawal(Struct, forbid_unknown_fields=True):
    """The student or entry that leaves a competition and keeps the results."""

    who: Text
    """A student with all entries, or one entry: ``player/bot``."""
    why: Why = ""


class Disqualification(Struct, forbid_unknown_fields=True):
    """The disqualified student or entry, and the reason."""

    who: Text
    """A student with all entries, or one entry: ``player/bot``."""
    why: NeededWhy


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

    code: Annotated[str, Meta(min_length=1, max_length=LONGEST_CODE)]
    player: Annotated[str, Meta(max_length=2 * LONGEST_NAME)] = ""


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


class NewFile(FileText):
    """The edited file of a competition."""

    apply: bool = False
    """False: only say what would change."""
    digest: Digest = ""
    """The digest of the edited file: the change is refused if the file is another one by now.
    Empty: not compared."""


class NewCopy(FileText):
    """A new competition that takes over students of another one."""

    codes: bool = False
    """True if valid codes lead into the new one from now on."""
    submissions: bool = False
    """True if the entries of the students play in the new one, with their versions."""


class Unfreezing(Struct, forbid_unknown_fields=True):
    """A frozen competition opens again."""

    until: Time = ""
    """A new date of the freeze with its zone; empty: when somebody freezes it."""
    why: Why = ""


class Costing(FileText):
    """A file, and for how many bots."""

    entries: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """Entries of the final with its baselines; 0 for the number that the file allows."""


Role: TypeAlias = Literal["owner", "assistant", "reader"]


class NewStaff(Struct, forbid_unknown_fields=True):
    """Somebody who gets a role."""

    player: Name
    role: Role
    why: Why = ""


class NewAnnouncement(Struct, forbid_unknown_fields=True):
    """An announcement to publish."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_ANNOUNCEMENT)]
    """Plain text; line breaks are kept."""


class RegradeRequest(Struct, forbid_unknown_fields=True):
    """A request to look at a match, or at the grade, again."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_REGRADE)]
    match: Annotated[str, Meta(max_length=LONGEST_ID)] = ""
    """A finished match of one's own; empty: the grade."""


class RegradeAnswer(Struct, forbid_unknown_fields=True):
    """An answer of the staff."""

    text: Annotated[str, Meta(max_length=LONGEST_REGRADE)] = ""
    """In the place of an earlier answer; empty: that one stays."""
    close: bool = False
