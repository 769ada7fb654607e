"""Pages that state limits state those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyhouse.bots.sandbox.box import Limits
from plyhouse.protocol.api.bodies import LONGEST_REGRADE
from plyhouse.protocol.hosting import manifest
from plyhouse.protocol.hosting.package_rules import MAX_MANIFEST, MAX_REQUIREMENTS, Rules
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.server.accounts.browser_sessions import NEW_GUESTS
from plyhouse.server.accounts.guesses import WRONG_OF_PLAYER, WRONG_PASSWORDS
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.entrance import WELCOMES
from plyhouse.storage.competition_messages import MOST_OPEN

DOCS = Path(__file__).resolve().parents[2] / "docs"
if not DOCS.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
SERVER, PACKAGE, FRAMES, BOX = ServerConfig(), Rules(), ConnectionLimits(), Limits()
NUMBERS = {1: "one", 2: "two", 5: "five", 20: "twenty"}


def kib(number: int) -> str:
    return f"{number >> 10} KiB"


def mib(number: int) -> str:
    return f"{number >> 20} MiB"


def burst(limit: tuple[int, float]) -> tuple[int, str]:
    """Return how many come at once, and in words how many a minute after that."""
    return limit[0], f"{NUMBERS[round(60 * limit[1])]} a minute"


STATED = {
    "hosted-packages.md": [
        f"{PACKAGE.max_files} files, {mib(PACKAGE.max_file)} each and {mib(PACKAGE.max_bytes)} in "
        f"all; a zip has {mib(SERVER.max_submission_bytes)}",
        f"{kib(MAX_MANIFEST)}, and {manifest._MAX_LINE:,} characters per line",
        f"{kib(MAX_REQUIREMENTS)} and {manifest._MAX_REQUIREMENT_LINES} lines",
        f"one, with {BOX.threads} threads",
        f"| memory | {mib(BOX.memory)} |",
        f"| open files | {BOX.files} |",
        f"{mib(BOX.output)} in a match",
    ],
    "security.md": [
        f"{FRAMES.early_per_second} frames a second ({FRAMES.early_burst} at once), frames of "
        f"{kib(FRAMES.early_frame)}, {SERVER.auth_timeout:g} s to log in, "
        f"{SERVER.max_pending_logins_per_address} connections per address",
        f"{SERVER.messages_per_second:,} frames a second, frames of {kib(FRAMES.max_frame)}",
        f"{SERVER.max_guests} guests in all, {SERVER.max_guests_per_address} per address; "
        "{} new ones per address at once, then {}".format(*burst(NEW_GUESTS))
        + f"; {SERVER.guest_hours:g} hours",
        f"{NUMBERS[SERVER.mistakes_per_second].capitalize()} refused requests a second "
        f"({FRAMES.mistake_burst} at once)",
        f"{NUMBERS[round(WELCOMES[1])]} times a second ({WELCOMES[0]} at once)",
        "{} at once and then {} from one address".format(*burst(WRONG_PASSWORDS)),
        "{} and then {} for one player".format(*burst(WRONG_OF_PLAYER)),
    ],
    "grading.md": [f"{MOST_OPEN} open requests of up to {LONGEST_REGRADE:,} characters"],
}


@pytest.mark.parametrize("page", STATED)
def test_page_states_the_limits_of_the_code(page: str) -> None:
    text = " ".join((DOCS / page).read_text("utf-8").split())
    assert [each for each in STATED[page] if each not in text] == []
