"""Built-in baselines, which a competition file names without a submission.

The server submits a reference bot as a package of a few lines that names it.  The bot is therefore
checked, run and replaced like every other hosted bot.  The package names the version of Plyhouse,
so another version of Plyhouse is another version of the bot.  The server knows only the names of
these bots.  All functions here are pure.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from typing import Final

from plyhouse.games.base import ChanceKind, Game, Information, Utility
from plyhouse.games.observation_fields import syntax_tree
from plyhouse.protocol.hosting.package import MANIFEST, Manifest, Package
from plyhouse.server.competition_rules.derived_files import toml
from plyhouse.server.competition_rules.file_table import InvalidCompetition, read_document

BUILTIN_LEVELS: Final = ("easy", "medium", "hard")
"""Names of other bots of that player, which connect on their own."""
REFERENCE: Final = {
    "alpha_beta": "plyhouse.bots.reference.alpha_beta_bot:AlphaBetaBot",
    "best": "plyhouse.bots.reference.best_bot:BestBot",
    "cfr_holdem": "plyhouse.bots.reference.holdem_cfr_bot:CfrHoldemBot",
    "coin_guess_optimal": "plyhouse.bots.reference.coin_guess_bot:CoinGuessOptimal",
    "double_dummy": "plyhouse.bots.reference.bridge_bot:DoubleDummyBot",
    "equity": "plyhouse.bots.reference.equity_bot:EquityBot",
    "expectimax": "plyhouse.bots.reference.expectimax_bot:ExpectimaxBot",
    "expectiminimax": "plyhouse.bots.reference.expectiminimax_bot:ExpectiminimaxBot",
    "flat_monte_carlo": "plyhouse.bots.reference.flat_monte_carlo_bot:FlatMonteCarloBot",
    "hearts": "plyhouse.bots.reference.hearts_bot:HeartsBot",
    "holdem_rules": "plyhouse.bots.reference.holdem_rule_bot:HoldemRuleBot",
    "ismcts": "plyhouse.bots.reference.ismcts_bot:IsmctsBot",
    "kuhn_optimal": "plyhouse.bots.reference.kuhn_bot:KuhnOptimal",
    "maxn": "plyhouse.bots.reference.maxn_bot:MaxnBot",
    "mcts": "plyhouse.bots.reference.mcts_bot:MctsBot",
    "minimax": "plyhouse.bots.reference.minimax_bot:MinimaxBot",
    "monopoly": "plyhouse.bots.reference.monopoly_bot:MonopolyBot",
    "paranoid": "plyhouse.bots.reference.paranoid_bot:ParanoidBot",
    "pig_optimal": "plyhouse.bots.reference.pig_bot:PigOptimal",
    "pimc": "plyhouse.bots.reference.pimc_bot:PimcBot",
    "random": "plyhouse.bots.reference.random_bot:RandomBot",
    "resolving": "plyhouse.bots.reference.resolving_bot:ResolvingBot",
    "scrabble": "plyhouse.bots.reference.scrabble_bot:ScrabbleBot",
}
"""The import paths of the bots that need no files, by name."""
_SOME_GAMES: Final = {
    "cfr_holdem": ("texas_holdem",),
    "coin_guess_optimal": ("coin_guess",),
    "double_dummy": ("bridge",),
    "equity": ("texas_holdem",),
    "hearts": ("hearts",),
    "holdem_rules": ("texas_holdem",),
    "kuhn_optimal": ("kuhn_poker",),
    "monopoly": ("monopoly",),
    "pig_optimal": ("pig",),
    "resolving": ("leduc_poker", "liars_dice"),
    "scrabble": ("scrabble",),
}
"""The reference bots that play a few games only, and these."""
_DUELS: Final = ("alpha_beta", "minimax", "expectiminimax")
"""The reference bots that play two-seat zero-sum games only."""
_NO_CHANCE: Final = ("alpha_beta", "minimax")
_HIDDEN: Final = ("best", "ismcts", "pimc", "random", *_SOME_GAMES)
"""The reference bots that play games of hidden information."""
MOST_PLACES: Final = 20
"""Places of a text where a reference is tried, which takes milliseconds each."""
_SPEC: Final = re.compile(r"([a-z_]+)(\((.*)\))?", re.DOTALL)


def level_of(bot: str) -> str:
    """Return the level of a built-in bot for people, by its name.

    >>> level_of("easy"), level_of("easy-2")
    ('easy', 'easy')
    """
    return bot.partition("-")[0]


def reference_problem(text: str) -> str:
    """Return the problem of a reference bot's name and options; empty if none.

    >>> reference_problem("mcts(simulations=200)")
    ''
    >>> reference_problem("mtcs")
    "there is no reference bot 'mtcs'; did you mean 'mcts'?"
    >>> reference_problem("mcts(200)")
    "'mcts(200)' must name its options with plain values, like mcts(simulations=200)"
    """
    found = _SPEC.fullmatch(text)
    name = text.partition("(")[0]
    if name not in REFERENCE:
        near = difflib.get_close_matches(name, REFERENCE, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(REFERENCE)}"
        return f"there is no reference bot {name!r}; {hint}"
    try:
        call = syntax_tree(text if found and found[2] else f"{text}()", "eval").body
        if not isinstance(call, ast.Call) or call.args or found is None:
            raise ValueError
        for each in call.keywords:
            if each.arg is None:
                raise ValueError
            ast.literal_eval(each.value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return f"{text!r} must name its options with plain values, like mcts(simulations=200)"
    return ""


def reference_misfit(text: str, game: Game) -> str:
    """Return why a reference bot cannot play a game; empty if it can.

    The server must not import search code, so the facts are repeated here.  A test compares them
    with the games that the bots claim.

    >>> from plyhouse.games.registry import get_game
    >>> reference_misfit("mcts(simulations=200)", get_game("leduc_poker"))
    'mcts cannot play leduc_poker: its seats do not see the whole state'
    >>> reference_misfit("ismcts", get_game("leduc_poker"))
    ''
    """
    name = text.partition("(")[0]
    info, reason = game.info, ""
    if name in _SOME_GAMES and info.name not in _SOME_GAMES[name]:
        reason = f"it plays {' and '.join(_SOME_GAMES[name])} only"
    elif name not in _HIDDEN and info.information is not Information.PERFECT:
        reason = "its seats do not see the whole state"
    elif name in _NO_CHANCE and game.chance_kind is not ChanceKind.DETERMINISTIC:
        reason = "it has chance nodes"
    elif name in _DUELS and game.seats != 2:
        reason = f"it has {game.seats} {'seat' if game.seats == 1 else 'seats'}"
    elif name in _DUELS and info.utility not in (Utility.ZERO_SUM, Utility.TEAM):
        reason = "its returns do not sum to zero"
    return f"{name} cannot play {game.spec}: {reason}" if reason else ""


def with_reference(text: str, bot: str, reference: str) -> str:
    r"""Return a competition file in which a baseline is another reference bot.

    Comments stay if the old reference can be found in the text within `MOST_PLACES`.

    >>> text = '[[baselines]]\nbot = "house/a"\nreference = "mcts"  # x'
    >>> print(with_reference(text, "house/a", "best"))
    [[baselines]]
    bot = "house/a"
    reference = "best"  # x
    """
    values = read_document(text)
    (baseline,) = [each for each in values["baselines"] if each["bot"].lower() == bot.lower()]
    old = baseline["reference"]
    baseline["reference"] = reference
    places = re.finditer(rf"""reference["']?[ \t]*=[ \t]*["']+({re.escape(old)})["']""", text)
    for found in itertools.islice(places, MOST_PLACES):
        changed = text[: found.start(1)] + reference + text[found.end(1) :]
        try:
            if read_document(changed) == values:
                return changed
        except InvalidCompetition:
            continue
    return toml(values)


def package_of(text: str, version: str) -> Package:
    """Return the package of a reference bot; ``version`` is that of Plyhouse."""
    name, bracket, options = text.partition("(")
    module, _, bot = REFERENCE[name].partition(":")
    python = (
        f'''"""{name}, as it comes with {version}."""\n\nfrom {module} import {bot} as Provided\n'''
    )
    spec = f"bot.py:Provided{bracket}{options}"
    quoted = spec.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    toml = f'[bot]\nbot = "{quoted}"\n'
    files = {"bot.py": python.encode(), MANIFEST: toml.encode()}
    return Package(files, frozenset(), Manifest(bot=spec))
