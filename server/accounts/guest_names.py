"""Names of guests."""

from __future__ import annotations

import secrets
from typing import Final

from plyhouse.storage.names import GUEST_PREFIX

__all__ = ["friendly_name"]

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


def friendly_name() -> str:
    """Return an anonymous name for a guest, such as ``guest-sly-fox-700``."""
    number = secrets.randbelow(900) + 100
    return f"{GUEST_PREFIX}{secrets.choice(_HOW)}-{secrets.choice(_WHO)}-{number}"
