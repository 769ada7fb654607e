"""The calls of administrators and organisers about people, bots and tokens.

See `plyhouse.protocol.api.calls`.
"""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.api.bodies import (
    Erasing,
    Exclusion,
    Reason,
    Reinstatement,
    Renaming,
    Revocation,
)
from plyhouse.protocol.api.bots import Bot, Suspension
from plyhouse.protocol.api.people import AuditEntry, ErasedPlayer, PlayerAccount, Token
from plyhouse.protocol.api.routes import ADMIN, DEAR, ORGANISE, PLAY, get, post
from plyhouse.protocol.api.rows import Rows


@get("suspensions", scopes=PLAY + ORGANISE)
def suspensions() -> Rows[Suspension]:
    """The suspended versions and why: of one's own bots, or of those that staff may see."""


@post("players/{name}/bots/{bot}/reinstate", Reinstatement, scopes=ORGANISE)
def reinstate(player: str, bot: str, *, version: str = "", why: str) -> Rows[Suspension]:
    """Let suspended versions of a bot be paired again, or one of them."""


@post("players/{name}/disable", Exclusion, scopes=ADMIN)
def disable_player(name: str, why: str, *, keep_matches: bool = False) -> PlayerAccount:
    """Keep a player from logging in, and close its connections."""


@post("players/{name}/enable", Reason, scopes=ADMIN)
def enable_player(name: str, why: str) -> PlayerAccount:
    """Let a player log in again."""


@post("players/{name}/rename", Renaming, scopes=ADMIN)
def rename_player(player: str, name: str, why: str) -> PlayerAccount:
    """Give a player another name."""


@post("players/{name}/bots/{bot}/disable", Exclusion, scopes=ADMIN)
def disable_bot(player: str, bot: str, why: str, *, keep_matches: bool = False) -> Bot:
    """Keep a bot from logging in, and close its connection."""


@post("players/{name}/bots/{bot}/enable", Reason, scopes=ADMIN)
def enable_bot(player: str, bot: str, why: str) -> Bot:
    """Let a bot log in again."""


@post("tokens/revoke", Revocation, scopes=ADMIN)
def revoke_token(token: str, why: str, *, keep_matches: bool = True) -> Token:
    """Revoke a token by itself or its first characters."""


@get("audit", scopes=ADMIN)
def audit(*, limit: int | None = None, before: int | None = None) -> Rows[AuditEntry]:
    """Actions of organisers, newest first; ``before`` is the last id of the page before."""


@post("players/{name}/erase", Erasing, scopes=ORGANISE)
def erase_player(name: str, *, why: str) -> ErasedPlayer:
    """Erase a person; their matches stay."""


@get("players/{name}/data", scopes=PLAY + ORGANISE, cost=DEAR)
def stored_data(name: str) -> Any:
    """Everything that is stored about a person, as JSON."""
