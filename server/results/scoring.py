"""The score of a match: pure rules from returns to scores.

A seat's score is its mean score against the other seats, without those of its team.  Where only
winning counts, that is the share of opponents beaten, a tie with one counting half:

>>> match_scores((2.0, -1.0, -1.0)).seats
((1.0, 'W'), (0.25, 'L'), (0.25, 'L'))

If the size of the return counts (`Scoring.RETURNS`), a difference scores in proportion to the
greatest possible one, the span of the game's returns:

>>> match_scores((1.0, -1.0), span=4.0)
MatchScores(seats=((0.75, 'W'), (0.25, 'L')), pairs=(0.75,))

Seats of a team win together, and have no score against each other:

>>> match_scores((3.0, -3.0, 3.0, -3.0), teams=(0, 1, 0, 1))
MatchScores(seats=((1.0, 'W'), (0.0, 'L'), (1.0, 'W'), (0.0, 'L')), \
pairs=(1.0, None, 1.0, 0.0, None, 1.0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from plyhouse.games.base import Game, Scoring, Utility
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.storage.rows import MatchScores


def installed_game(spec: str) -> Game | None:
    """Return a game; None for a plug-in that is not installed any more."""
    try:
        return get_game(spec)
    except GameError:
        return None


def pair_score(mine: float, other: float, span: float = 0.0) -> float:
    """Return the score, from 0 to 1, of a return against another of the match.

    ``span`` is the greatest difference of two returns, if the size of the difference counts.  Equal
    returns score 1/2, the greatest difference 1 or 0, and others lie between them on a line.  With
    a span of 0 only the order counts: 1, 1/2 or 0.
    """
    if span > 0.0:
        return min(1.0, max(0.0, 0.5 + (mine - other) / (2.0 * span)))
    return 1.0 if mine > other else 0.5 if mine == other else 0.0


def seat_result(
    returns: Sequence[float], seat: int, span: float = 0.0, teams: Sequence[int] = ()
) -> tuple[float, str]:
    """Return a seat's score (its mean `pair_score` against its opponents) and W, D or L.

    W: no opponent got as much. D: the highest return is shared with one. L: some opponent got more.
    ``teams`` has the team of each seat; if it is empty, everyone plays alone.  Without an opponent
    the score is the return itself, and the result a D.
    """
    teams = teams or range(len(returns))
    mine = returns[seat]
    opponents = [other for team, other in zip(teams, returns, strict=True) if team != teams[seat]]
    if not opponents:
        return mine, "D"
    score = sum([pair_score(mine, other, span) for other in opponents]) / len(opponents)
    best = max(opponents)
    return score, "W" if mine > best else "D" if mine == best else "L"


def match_scores(
    returns: Sequence[float], span: float = 0.0, teams: Sequence[int] = ()
) -> MatchScores:
    """Return a match's scores from returns; ``span`` and ``teams`` are as in `seat_result`."""
    seats = tuple([seat_result(returns, seat, span, teams) for seat in range(len(returns))])
    sides = zip(returns, teams or range(len(returns)), strict=True)
    pairs = tuple(
        [
            None if team == other_team else pair_score(mine, other, span)
            for (mine, team), (other, other_team) in combinations(sides, 2)
        ]
    )
    return MatchScores(seats, pairs)


def teams_of(game: Game) -> tuple[int, ...]:
    """Return the team of each seat, numbered in the order of seats; empty if everyone plays alone.

    >>> from plyhouse.games.registry import get_game
    >>> teams_of(get_game("bridge")), teams_of(get_game("hearts"))
    ((0, 1, 0, 1), ())
    """
    if game.info.utility is not Utility.TEAM:
        return ()
    teams = [game.team(seat) for seat in range(game.seats)]
    order = list(dict.fromkeys(teams))
    return tuple([order.index(team) for team in teams])


def side_size(game: Game) -> int:
    """Return the seats of each of two equal teams; 0 if the game has no such teams.

    >>> from plyhouse.games.registry import get_game
    >>> side_size(get_game("bridge")), side_size(get_game("hearts"))
    (2, 0)
    """
    teams = teams_of(game)
    size = teams.count(0)
    return size if set(teams) == {0, 1} and teams.count(1) == size else 0


def default_scoring(game: Game) -> Scoring:
    """Return the default scoring of a game's matches: `GameInfo.scoring`.

    A game for one seat is always scored by returns, as it has no opponent to beat.
    """
    return game.info.scoring if game.seats > 1 else Scoring.RETURNS


def return_span(game: Game, scoring: Scoring | None = None) -> float:
    """Return the greatest difference of returns; 0 unless scored by returns.

    If ``scoring`` is None, the game's default applies.
    """
    if (game.info.scoring if scoring is None else scoring) is not Scoring.RETURNS:
        return 0.0
    least, most = game.return_bounds
    return most - least


def game_scores(
    game: Game, returns: Sequence[float], scoring: Scoring | None = None
) -> MatchScores:
    """Return the scores of a match of a game from its returns.

    If ``scoring`` is None, the game's default applies.
    """
    return match_scores(returns, return_span(game, scoring), teams_of(game))


def scoring_words(scoring: Mapping[str, Scoring]) -> str:
    """Name the scoring of several games, briefly.

    >>> scoring_words({"pig": Scoring.WINS, "chess": Scoring.WINS})
    'wins'
    >>> scoring_words({"pig": Scoring.WINS, "kuhn_poker": Scoring.RETURNS})
    'pig: wins, kuhn_poker: returns'
    """
    if len(set(scoring.values())) == 1:
        return next(iter(scoring.values())).value
    return ", ".join(f"{game}: {each.value}" for game, each in scoring.items())


def scoring_rule(game: Game, scoring: Scoring) -> str:
    """State how a match of a game scores, as a sentence without a full stop.

    >>> from plyhouse.games.registry import get_game
    >>> scoring_rule(get_game("kuhn_poker"), Scoring.RETURNS)
    'by returns: equal returns score 0.5, each point of difference adds 0.125, up to 1'
    """
    span = return_span(game, scoring)
    if span <= 0.0:
        if len(set(teams_of(game))) == 2 or game.seats <= 2:
            return "by wins: a win scores 1, a draw 0.5, a loss 0"
        return (
            "by wins: a match scores the share of the opponents that got less, ties counting half"
        )
    return (
        "by returns: equal returns score 0.5, each point of difference adds "
        f"{1.0 / (2.0 * span):.3g}, up to 1"
    )
