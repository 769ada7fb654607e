"""Roles of the staff of a competition, the actions of each, and refusals without one.

A role holds in one competition.  The scope ``admin`` allows everything everywhere.  Staff also
needs a token with the scope ``organise``, so a token on a bot's machine is not enough.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

from plyhouse.storage import competition_sql, competition_staff
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

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


_WORDS: Final[dict[Action, str]] = {
    "see": "see that",
    "run": "do that",
    "change": "change or delete it, or name its staff",
}


class NotStaff(Exception):  # noqa: N818 - a condition, as Unknown
    """A refusal, because an action needs a role that the account does not have."""

    code = "auth/role"

    def __init__(self, competition: str, role: str | None, action: Action) -> None:
        held = f"you are its {role}" if role else "you are not on its staff"
        super().__init__(
            f"Only the staff of {competition!r} from {ACTIONS[action]} up may {_WORDS[action]}; "
            f"{held}. An owner adds you: plyhouse competition staff add"
        )


async def role_in(store: Store, competition_id: str, identity: Identity | None) -> str | None:
    """Return an account's role in a competition; None for everybody outside its staff."""
    if identity is None:
        return None
    if "admin" in identity.scopes:
        return OWNER
    if "organise" not in identity.scopes:
        return None
    return await store.read(competition_staff.role, competition_id, identity.player_id)


async def require(store: Store, row: CompetitionRow, identity: Identity, action: Action) -> None:
    """Raise `NotStaff` unless the account may do this in a competition."""
    role = await role_in(store, row.id, identity)
    if not allows(role, action):
        raise NotStaff(row.name, role, action)


async def admit_to_part(store: Store, tournament_id: str | None, identity: Identity) -> None:
    """Raise `NotStaff` if the account may not run one game of a final.

    Matches outside competitions are open to every organiser.
    """
    if tournament_id is None:
        return
    competition_id = await store.read(competition_sql.competition_of, tournament_id)
    if competition_id is not None:
        row = await store.read(competition_sql.find, competition_id)
        await require(store, row, identity, "run")


async def bots_seen(
    store: Store, bot_ids: Collection[int], identity: Identity, action: Action
) -> set[int]:
    """Return the bots that an organiser may ``see`` or ``run``.

    These bots are entered in a competition in which the organiser has the role, or in none at all.
    """
    if "admin" in identity.scopes:
        return set(bot_ids)
    if "organise" not in identity.scopes:
        return set()
    roles = await store.read(competition_staff.bot_roles, identity.player_id, bot_ids)
    return {
        bot for bot in bot_ids if bot not in roles or any(allows(r, action) for r in roles[bot])
    }


async def admit_to_bot(store: Store, bot_id: int, name: str, identity: Identity) -> None:
    """Raise `NotStaff` for a bot that plays only in competitions of other organisers."""
    if bot_id not in await bots_seen(store, [bot_id], identity, "run"):
        raise NotStaff(f"the competitions of {name}", None, "run")
