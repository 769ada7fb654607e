"""The games and time controls of a check; pure.

They come from the competitions of the submission.
"""

from __future__ import annotations

from collections.abc import Iterable

from plyhouse.protocol.hosting.runner_messages import CheckTerms
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, stored_competition
from plyhouse.storage.submission_rows import CheckedFor

__all__ = ["terms_of"]


def terms_of(competitions: Iterable[CheckedFor]) -> tuple[list[CheckTerms], bool]:
    """Return the games to check, and whether it must play all of them.

    A submission that is only a baseline must play all: a competition waits for its baselines.
    """
    asked = list(competitions)
    terms = {pair for each in asked for pair in _terms(each.file)}
    must_play = bool(terms) and all(each.baseline for each in asked)
    return [CheckTerms(*each) for each in sorted(terms)], must_play


def _terms(text: str) -> tuple[tuple[str, str], ...]:
    try:
        file = stored_competition(text)
    except InvalidCompetition:  # a game's file is missing
        return ()
    return tuple((game, str(file.time_control)) for game in file.games)
