"""Names that only guests and the built-in bots may have."""

from __future__ import annotations

import secrets
from typing import Final

from plyhouse.server.accounts.builtin_bots import HOUSE_NAMES

__all__ = ["GUEST_PREFIX", "friendly_name", "reserved"]

GUEST_PREFIX: Final = "guest-"

_HOW: Final = (
    *("amber", "bold", "brave", "bright", "calm", "clever", "cosy", "curious", "eager", "gentle"),
    *("golden", "happy", "honest", "jolly", "keen", "kind", "lucky", "merry", "mild", "nimble"),
    *("patient", "proud", "quick", "quiet", "silver", "sly", "sunny", "swift", "tidy", "wise"),
)
_WHO: Final = (
    *("badger", "beaver", "bison", "crane", "dolphin", "falcon", "ferret", "finch", "fox", "gecko"),
    *("hare", "hedgehog", "heron", "ibex", "jay", "koala", "lark", "lynx", "marten", "mole"),
    *("newt", "otter", "owl", "panda", "puffin", "raven", "robin", "seal", "stork", "wren"),
)


def reserved(player: str) -> bool:
    """Return whether a name is reserved for guests or for the built-in bots.

    >>> reserved("Guest-sly-fox-700"), reserved("house"), reserved("ada")
    (True, True, False)
    """
    name = player.lower()
    return name.startswith(GUEST_PREFIX) or name in (*HOUSE_NAMES, "guest")


def friendly_name() -> str:
    """Return an anonymous name for a guest, such as ``guest-sly-fox-700``."""
    number = secrets.randbelow(900) + 100
    return f"{GUEST_PREFIX}{secrets.choice(_HOW)}-{secrets.choice(_WHO)}-{number}"
