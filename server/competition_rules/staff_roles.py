"""Roles of the staff of a competition, and the actions of each role.

A role holds in one competition.  The scope ``admin`` allows everything everywhere.  Staff also
needs a token with the scope ``organise``, so a token on a bot's machine is not enough.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["ACTIONS", "ASSISTANT", "OWNER", "READER", "ROLES", "Action", "allows"]

READER: Final = "reader"
ASSISTANT: Final = "assistant"
OWNER: Final = "owner"
ROLES: Final = (READER, ASSISTANT, OWNER)
"""The roles from the least to the most powerful."""

Action: TypeAlias = Literal["see", "run", "change"]
ACTIONS: Final[dict[Action, str]] = {"see": READER, "run": ASSISTANT, "change": OWNER}
"""The least powerful role that may take each action.

``see``: students, entries, the whole board, reports, exports, grades, suspicions.
``run``: every step from opening to a rerun, students, codes, tokens, extensions, withdrawals,
disqualifications, void matches, announcements, rehearsals.
``change``: the file, the staff, deletion."""


def allows(role: str | None, action: Action) -> bool:
    """Return whether a role (None for no role) may take an action.

    >>> allows("assistant", "run"), allows("assistant", "change"), allows(None, "see")
    (True, False, False)
    """
    return role is not None and ROLES.index(role) >= ROLES.index(ACTIONS[action])
