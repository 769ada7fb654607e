"""``plyhouse explain``: the tree that a search looks at, drawn or written out."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.games import game_files_option, known_game
from plyhouse.clients.shared.options import Server, json_option, match_of_file_option, on_server
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.errors import GameError, listed, shortened
from plyhouse.games.position import Position

if TYPE_CHECKING:
    from plyhouse.games.base import Game
    from plyhouse.search import Explanation, Policy
    from plyhouse.server.results.record import Record

SEPARATORS: Final = " \t\r\n,;"


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where moves lead."""

    state: Any
    names: tuple[str, ...]
    """Each move as the game writes it."""
    mover: int | None
    """The seat that moved last; None where none has."""


def replayed(game: Game, text: str) -> Replayed:
    """Play these moves from the start.

    At every position the text goes on with a legal action of the seat to move or an outcome of
    chance, in the game's notation.  If several fit, the longest is taken.  Blanks, commas and
    semicolons may stand between them, and have to where moves would run together.  Raises
    `CommandError`, which says which move was wrong and what would be legal.
    """
    position = Position(game)
    names: list[str] = []
    mover: int | None = None
    rest = text.strip(SEPARATORS)
    while rest:
        if position.mover == TERMINAL:
            raise CommandError(
                f"The game is over after {' '.join(names)}: {shortened(rest)} is too much.",
                EXIT_USAGE,
            )
        action, name, length = first_move(game, position.state, rest, names)
        names.append(name)
        mover = position.mover if position.mover >= 0 else mover
        position.play(action)
        rest = rest[length:].lstrip(SEPARATORS)
    return Replayed(position.state, tuple(names), mover)


def first_move(game: Game, state: Any, rest: str, before: list[str]) -> tuple[Any, str, int]:
    """The action with which the text begins, its name, and the length of it in the text."""
    legal = legal_moves(game, state)
    folded = rest.casefold()
    fitting = [name for name in legal if folded.startswith(name.casefold())]
    # A move that ends where the text has a separator is more likely meant.
    whole = [name for name in fitting if rest[len(name) : len(name) + 1] in ("", *SEPARATORS)]
    if whole:
        name = max(whole, key=len)
        return legal[name], name, len(name)
    word = min([rest, *(rest.split(mark)[0] for mark in SEPARATORS)], key=len)
    if state.to_move != CHANCE:
        try:  # other ways to write it, that the game reads but does not write
            action = game.parse(state, word)
        except GameError:
            pass
        else:
            return action, game.format(state, action), len(word)
    if fitting:
        name = max(fitting, key=len)
        return legal[name], name, len(name)
    who = "chance" if state.to_move == CHANCE else game.seat_name(state.to_move)
    place = f"after {' '.join(before)}" if before else "at the start"
    near = difflib.get_close_matches(word.casefold(), legal, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? Possible: " if near else "possible: "
    raise CommandError(
        f"Move {len(before) + 1}, {shortened(word)}, cannot be read {place}, where it is "
        f"{who}'s turn; {hint}{listed(list(legal))}.",
        EXIT_USAGE,
    )


def legal_moves(game: Game, state: Any) -> dict[str, Any]:
    """The possible actions or outcomes, by their text."""
    if state.to_move == CHANCE:
        return {game.format_chance(state, o): o for o, _ in state.chance_outcomes()}
    return {game.format(state, action): action for action in state.actions()}


FORMATS: Final = (".svg", ".txt", ".json")
JUDGING: Final = 2.0
"""Seconds, at most, for what an action was worth."""
POSITION_PARAMETERS: Final = ("position", "fen")
"""Parameters of games that hold a position to start from."""


@click.command()
@click.argument("game", metavar="[GAME]", required=False)
@click.option("--tree", metavar="TREE", help="A written tree, or a file with one, as the game.")
@click.option("--moves", metavar="MOVES", default="", help="Moves from the start, like 4,4.")
@click.option(
    "--position", metavar="TEXT", help="A position to start from, where the game has them."
)
@click.option(
    "--record", metavar="FILE|MATCH",
    help="A position of this match instead: in a file (- is standard input), on a server, in the "
    "database.",
)  # fmt: skip
@match_of_file_option()
@click.option(
    "--ply", type=click.IntRange(1), metavar="N",
    help="With --record: the position before this ply, from 1.  [default: 1]",
)  # fmt: skip
@click.option(
    "--then", metavar="ACTION", multiple=True,
    help="With --record: what happens after that, one action or roll each time it is given.",
)  # fmt: skip
@click.option(
    "--search", metavar="NAME",
    help="minimax, alpha_beta, expectiminimax, star1, team_search, maxn, paranoid or expectimax.  "
    "[default: alpha_beta; with --record what fits the game]",
)  # fmt: skip
@click.option(
    "--minimax-share", type=click.FloatRange(0, 1), metavar="SHARE",
    help="With expectimax: others play minimax of depth 2 that often, else at random.",
)  # fmt: skip
@click.option(
    "--depth", type=click.IntRange(1), metavar="N", help="Plies to look ahead; else to the end."
)
@click.option(
    "--actions", type=click.IntRange(1), metavar="N",
    help="Look at the first N actions of each position only.",
)  # fmt: skip
@click.option("--show-cut", is_flag=True, help="In drawings, show what lies behind cuts.")
@click.option(
    "--max-nodes", type=click.IntRange(1), metavar="N", default=500, show_default=True,
    help="Refuse to draw larger trees.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(0.1), metavar="N", default=10.0, show_default=True,
    help="With --record: time for the tree.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", default="-", show_default=True,
    help="Where to write: a file ending in .svg, .txt or .json, or - for text.",
)  # fmt: skip
@json_option()
@game_files_option()
@on_server
def explain(
    game: str | None,
    tree: str | None,
    moves: str,
    position: str | None,
    record: str | None,
    which: str | None,
    ply: int | None,
    then: tuple[str, ...],
    search: str | None,
    minimax_share: float | None,
    depth: int | None,
    actions: int | None,
    show_cut: bool,
    max_nodes: int,
    seconds: float,
    output: str,
    as_json: bool,
    server: Server,
) -> None:
    """Draw the tree of a search in a position.

    Values, alpha and beta, cut branches and probabilities stand at the nodes; the best line
    is emphasised. Try `plyhouse explain connect_four --moves 44 --depth 3 -o tree.svg`.

    MOVES are in the game's own notation, with blanks or commas between them where they would
    run together; in games with dice the outcomes stand among them: 'roll 4 hold'.

    A TREE is written like '((4 2 7) (3 1)) ((5 8) (2 9))', with chance nodes like
    '?(1/2:8 1/3:24 1/6:-12)' and leaves for more seats like [1 2 6].

    With --record it is a position of a match that was played, and the tree is as deep as
    --max-nodes and --seconds allow: `plyhouse explain --record lost.jsonl --ply 4`.
    """
    from plyhouse.search import explain as explained
    from plyhouse.search.teaching.explain import TreeTooLarge, UnknownSearch

    suffix = Path(output).suffix.lower() if output != "-" else ".txt"
    if suffix not in FORMATS:
        raise CommandError(
            f"{output} cannot be written: it must end in .svg, .txt or .json.",
            EXIT_USAGE,
        )
    if record is not None:
        for given, option in (
            (game, "a game"),
            (tree, "--tree"),
            (moves, "--moves"),
            (position, "--position"),
            (minimax_share, "--minimax-share"),
            (actions, "--actions"),
            (show_cut or None, "--show-cut"),
        ):
            if given:
                raise CommandError(
                    f"--record names game and position: leave {option} away.", EXIT_USAGE
                )
        from plyhouse.clients.cli.replay import record_asked

        asked = record_asked(record, which, server)
        explain_spot(
            record=asked,
            ply=(ply or 1) - 1,
            then=then,
            search=search,
            depth=depth,
            max_nodes=max_nodes,
            seconds=seconds,
            suffix=suffix,
            output=output,
            as_json=as_json,
        )
        return
    if ply is not None or then or which is not None:
        raise CommandError("--ply, --then and --match belong to --record.", EXIT_USAGE)
    played = asked_game(game, tree, position)
    at = replayed(played, moves)
    try:
        found = explained(
            played,
            at.state,
            search or "alpha_beta",
            depth=depth,
            opponents=None if minimax_share is None else often_minimax(played, minimax_share),
            seat=at.mover if at.state.to_move < 0 else None,
            show_cut=show_cut,
            max_actions=actions,
            max_nodes=max_nodes,
        )
    except TreeTooLarge as error:
        told = TreeTooLarge(
            error.what,
            error.max_nodes,
            error.depth,
            error.actions,
            ("--depth {}", "--actions {}", "--max-nodes"),
        )
        raise CommandError(f"{told}.", EXIT_USAGE) from error
    except UnknownSearch as error:
        raise CommandError(str(error), EXIT_USAGE) from error
    except ValueError as error:
        raise CommandError(sentence_of(error), EXIT_USAGE) from error
    # A game of a file by its name, not by anybody's path.
    spec = played.spec.replace(played.source, played.info.name) if played.source else played.spec
    heading = "written tree" if tree is not None else spec
    if at.names:
        heading += f" after {' '.join(at.names)}"
    if as_json:
        click.echo(found.json())
        return
    write(found, heading, suffix, output)


def explain_spot(
    record: Record,
    ply: int,
    then: tuple[str, ...],
    search: str | None,
    depth: int | None,
    max_nodes: int,
    seconds: float,
    suffix: str,
    output: str,
    as_json: bool,
) -> None:
    """Write the tree of a position of a match."""
    from plyhouse.clients.review.recorded_position import fields_of, judged, spot_of
    from plyhouse.games.errors import GameMismatch
    from plyhouse.search.teaching.deepest_tree import deepest, searches_for
    from plyhouse.search.teaching.explain import UnknownSearch

    game = known_game(record.game, f"match {record.match}")
    spot = spot_of(record, game, ply, then)
    try:
        found = deepest(
            game,
            spot.state,
            search or "",
            seat=spot.mover,
            depth=depth,
            max_nodes=max_nodes,
            seconds=seconds,
        )
    except (UnknownSearch, GameMismatch) as error:
        raise CommandError(str(error), EXIT_USAGE) from error
    except ValueError as error:
        raise CommandError(sentence_of(error), EXIT_USAGE) from error
    if as_json:
        judgement = judged(game, spot, min(seconds / 2, JUDGING))
        fields = fields_of(found, spot, searches_for(game), judgement)
        click.echo(json.dumps(fields, ensure_ascii=False))
        return
    write(found.tree, f"{game.info.name}, {spot.name}", suffix, output)


def often_minimax(game: Game, share: float) -> Policy:
    """The course's opponent: minimax of depth 2 that often, otherwise any action."""
    from plyhouse.search import Limit, minimax
    from plyhouse.search.policies import mixed_policy, search_policy

    return mixed_policy(search_policy(minimax, game, Limit(depth=2)), share)


def sentence_of(error: ValueError) -> str:
    """An error of the library as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def asked_game(name: str | None, tree: str | None, position: str | None) -> Game:
    """The game that the arguments mean."""
    if tree is not None:
        if name is not None or position is not None:
            other = "a game" if name is not None else "--position"
            raise CommandError(f"--tree is a game of its own: leave {other} away.", EXIT_USAGE)
        from plyhouse.games.trees import tree_game

        return tree_game(tree_text(tree))
    if name is None:
        raise CommandError(
            "Say what to explain: a game like connect_four, or --tree '((4 2 7) (3 1))'.",
            EXIT_USAGE,
        )
    from plyhouse.games.registry import get_game

    game = get_game(name, files=True)  # The user of a command may run files.
    if position is None:
        return game
    for parameter in POSITION_PARAMETERS:
        if parameter in game.parameters:
            made = type(game)(**{**game.parameters, parameter: position})
            made.source = game.source
            return made
    raise CommandError(
        f"{game.spec} has no text for positions: say how to get there with --moves.", EXIT_USAGE
    )


def tree_text(tree: str) -> str:
    """The tree itself, or what the file of that name holds."""
    if any(mark in tree for mark in "([?\n"):
        return tree
    path = Path(tree)
    if not path.is_file():
        raise CommandError(
            f"{tree!r} is neither a file nor a tree: a tree is written like '((4 2 7) (3 1))'.",
            EXIT_USAGE,
        )
    from plyhouse.protocol.text import decoded

    try:
        return decoded(path.read_bytes())
    except ValueError as error:
        raise CommandError(f"{tree} is no tree: {error}.", EXIT_USAGE) from None


def write(found: Explanation, heading: str, suffix: str, output: str) -> None:
    """Write the tree where it was asked for."""
    match suffix:
        case ".svg":
            text = found.svg(heading)
        case ".json":
            text = found.json() + "\n"
        case _:
            text = f"{heading}\n{found.text()}"
    if output == "-":
        click.echo(text, nl=False)
        return
    Path(output).write_text(text, encoding="utf-8")
    click.echo(f"{heading}: {found.title()}")
    click.echo(f"Wrote {output}.", err=True)
