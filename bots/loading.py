"""Find the bot that a text names: a reference bot, an installed plug-in, or a file.

* ``alpha_beta``: a reference bot, or an entry point of the group `ENTRY_POINTS`;
* ``mybot.py``: the one `Bot` that the file defines;
* ``mybot.py:MyBot``: that class of the file;
* ``mybot/``: a folder with ``plyhouse.toml``, as `plyhouse submit` takes it;
* ``cmd:./mybot``: a program that speaks protocol v1 as lines of JSON, with its arguments.

Options may follow, as in ``alpha_beta(depth=6)``; see `plyhouse.bots.options`.

Every mistake raises a `BotLoadError` with one sentence.  `load_bot` runs the author's code, so the
runner calls it in the bot's own process, with a time limit (`plyhouse.bots.process.bot_process`).
`check_spec` finds simple mistakes without running any code.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Final

from plyhouse.bots.api import Bot
from plyhouse.bots.options import OptionError, OptionValue, checked_options, split_options
from plyhouse.bots.search_bot import SearchBot
from plyhouse.games.plugins import entry_points

__all__ = [
    "ENTRY_POINTS",
    "REFERENCE_BOTS",
    "BotLoadError",
    "bot_names",
    "bot_options",
    "check_spec",
    "default_name",
    "load_bot",
]

ENTRY_POINTS: Final = "plyhouse.bots"
"""Entry-point group in which other packages announce their bots."""

REFERENCE_BOTS: Final[dict[str, str]] = {
    "alpha_beta": "plyhouse.bots.reference.alpha_beta_bot:AlphaBetaBot",
    "alpha_zero": "plyhouse.bots.reference.alpha_zero_bot:AlphaZeroBot",
    "best": "plyhouse.bots.reference.best_bot:BestBot",
    "book": "plyhouse.bots.reference.book_bot:BookBot",
    "cfr_holdem": "plyhouse.bots.reference.holdem_cfr_bot:CfrHoldemBot",
    "command": "plyhouse.bots.engines.command_bot:CommandBot",
    "coin_guess_optimal": "plyhouse.bots.reference.coin_guess_bot:CoinGuessOptimal",
    "double_dummy": "plyhouse.bots.reference.bridge_bot:DoubleDummyBot",
    "easy": "plyhouse.bots.reference.level_bots:EasyBot",
    "equity": "plyhouse.bots.reference.equity_bot:EquityBot",
    "expectimax": "plyhouse.bots.reference.expectimax_bot:ExpectimaxBot",
    "expectiminimax": "plyhouse.bots.reference.expectiminimax_bot:ExpectiminimaxBot",
    "flat_monte_carlo": "plyhouse.bots.reference.flat_monte_carlo_bot:FlatMonteCarloBot",
    "gnubg": "plyhouse.bots.engines.gnubg_bot:GnubgBot",
    "gtp": "plyhouse.bots.engines.gtp_bot:GtpBot",
    "hard": "plyhouse.bots.reference.level_bots:HardBot",
    "hearts": "plyhouse.bots.reference.hearts_bot:HeartsBot",
    "holdem_rules": "plyhouse.bots.reference.holdem_rule_bot:HoldemRuleBot",
    "ismcts": "plyhouse.bots.reference.ismcts_bot:IsmctsBot",
    "kuhn_optimal": "plyhouse.bots.reference.kuhn_bot:KuhnOptimal",
    "llm": "plyhouse.bots.llm.llm_bot:LlmBot",
    "linear": "plyhouse.bots.reference.linear_bot:LinearBot",
    "maxn": "plyhouse.bots.reference.maxn_bot:MaxnBot",
    "mcts": "plyhouse.bots.reference.mcts_bot:MctsBot",
    "medium": "plyhouse.bots.reference.level_bots:MediumBot",
    "minimax": "plyhouse.bots.reference.minimax_bot:MinimaxBot",
    "monopoly": "plyhouse.bots.reference.monopoly_bot:MonopolyBot",
    "paranoid": "plyhouse.bots.reference.paranoid_bot:ParanoidBot",
    "perfect": "plyhouse.bots.reference.perfect_bot:PerfectBot",
    "pig_optimal": "plyhouse.bots.reference.pig_bot:PigOptimal",
    "pimc": "plyhouse.bots.reference.pimc_bot:PimcBot",
    "policy": "plyhouse.bots.reference.policy_bot:PolicyBot",
    "puct": "plyhouse.bots.reference.puct_bot:PuctBot",
    "random": "plyhouse.bots.reference.random_bot:RandomBot",
    "resolving": "plyhouse.bots.reference.resolving_bot:ResolvingBot",
    "scrabble": "plyhouse.bots.reference.scrabble_bot:ScrabbleBot",
    "td_gammon": "plyhouse.bots.reference.td_gammon_bot:TdGammonBot",
    "team_search": "plyhouse.bots.reference.team_search_bot:TeamSearchBot",
    "uci": "plyhouse.bots.engines.uci_bot:UciBot",
    "xboard": "plyhouse.bots.engines.xboard_bot:XboardBot",
}

_FILE: Final = re.compile(r"(?P<path>.*\.py)(?::(?P<name>[A-Za-z_]\w*))?")


class BotLoadError(Exception):
    """The bot cannot be used; ``str()`` is one sentence for its author.

    ``details`` is the traceback within the author's code, where that failed.
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


def bot_names() -> dict[str, str]:
    """Return the ``module:Class`` of every bot known by name; installed ones may not hide ours."""
    return dict(sorted((dict(entry_points(ENTRY_POINTS)) | REFERENCE_BOTS).items()))


def check_spec(spec: str) -> str:
    """Return ``spec`` with its file's path made absolute, without running anything.

    Raises `BotLoadError` if there is no such file or name.

    >>> check_spec("alpha_beta(depth=6)")
    'alpha_beta(depth=6)'
    >>> check_spec("pucct")
    Traceback (most recent call last):
    plyhouse.bots.loading.BotLoadError: There is no bot named 'pucct'; did you mean puct?
    """
    whole = spec.strip()
    if whole.startswith("cmd:") or Path(whole).is_dir():
        # Few bots are such, and these modules take a while to load.
        from plyhouse.bots.local_packages import local_spec
        from plyhouse.protocol.hosting.package_rules import SubmissionError

        try:
            return local_spec(whole)
        except SubmissionError as error:
            raise BotLoadError(str(error)) from None
    spec, _ = _split(whole)
    options = whole[len(spec) :]
    path, name = _file_of(spec)
    if path is not None:
        resolved = path.expanduser().resolve()
        if not resolved.is_file():
            near = _near(path.name, [file.name for file in _siblings(resolved)])
            raise BotLoadError(f"There is no file {path}{near}")
        return f"{resolved}:{name}{options}" if name else f"{resolved}{options}"
    if spec not in REFERENCE_BOTS and spec not in bot_names():
        if Path(f"{spec.partition(':')[0]}.py").is_file():
            hint = f"; to run the file, write {spec.partition(':')[0]}.py"
        else:
            hint = _near(spec, list(bot_names())) or (
                f"; known are {', '.join(bot_names())}, or a file like mybot.py"
            )
        raise BotLoadError(f"There is no bot named {spec!r}{hint}")
    return f"{spec}{options}"


def bot_options(spec: str, bot: type[Bot]) -> dict[str, OptionValue]:
    """Return the options in ``spec`` as the bot's class, which `load_bot` returned, takes them.

    Raises `BotLoadError` for options it does not have and for values it refuses.  Raises it also
    where a file that the bot reads (`Bot.reads`) is missing, or its constructor refuses the file.
    """
    name, options = _split(spec)
    label = Path(name).name if name.endswith(".py") else name
    try:
        checked = checked_options(bot.__init__, options)
    except OptionError as error:
        example = getattr(bot, "options_example", "")
        hint = f'. Write options of the engine like options="{example}"' if example else ""
        raise BotLoadError(f"{label} {error}{hint}") from None
    for option in bot.reads:
        default = inspect.signature(bot.__init__).parameters[option].default
        file = checked.get(option, default)
        if file and not Path(str(file)).is_file():
            raise BotLoadError(f"{label} reads {option}={str(file)!r}, and there is no such file")
    if checked or bot.preload:
        try:
            bot(**checked)
        except (OSError, TypeError, ValueError) as error:
            # Every bot's process imports this module, and that one brings hashlib along.
            from plyhouse.search.files import InvalidFile

            if isinstance(error, InvalidFile):
                raise BotLoadError(f"{label} cannot read {error}") from error
            raise BotLoadError(f"{label} refuses its options: {_sentence(error)}") from error
    return checked


def load_bot(spec: str) -> type[Bot]:
    """Import what ``spec`` names and return the class; raises `BotLoadError`.  Runs its code."""
    spec, _ = _split(check_spec(spec))
    path, wanted = _file_of(spec)
    if path is None:
        target = REFERENCE_BOTS.get(spec) or bot_names()[spec]
        module_name, _, wanted = target.partition(":")
        module = _import(lambda: importlib.import_module(module_name), spec, None)
        found = getattr(module, wanted, None)
        return _checked(found, f"{spec} ({module_name}:{wanted})")
    module = _import(lambda: _run_file(path), path.name, path)
    own = {
        name: value
        for name, value in vars(module).items()
        if _is_bot(value) and value.__module__ == module.__name__
    }
    if wanted:
        if not hasattr(module, wanted):
            hint = _near(wanted, list(own)) or (f"; it has {_listed(list(own))}" if own else "")
            raise BotLoadError(f"{path.name} has no class {wanted}{hint}")
        return _checked(getattr(module, wanted), f"{path.name}:{wanted}")
    # A file may import its bot from elsewhere instead of defining it.
    own = own or {name: value for name, value in vars(module).items() if _is_bot(value)}
    if len(own) > 1:  # one of them may have two names, or be the base of others
        complete = {id(value): name for name, value in own.items() if _plays(value)}
        own = {name: own[name] for name in complete.values()} or own
    if not own:
        raise BotLoadError(
            f"{path.name} has no bot: define a class that derives from plyhouse.bots.Bot"
        )
    if len(own) > 1:
        raise BotLoadError(
            f"{path.name} has several bots, {_listed(sorted(own))}: say which, like "
            f"{path.name}:{min(own)}"
        )
    return _checked(next(iter(own.values())), path.name)


def default_name(bot: type[Bot]) -> str:
    """Return the bot's default name under its player's account.

    >>> class HoldAt20(Bot): ...
    >>> default_name(HoldAt20)
    'hold_at20'
    """
    if bot.name:
        return bot.name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bot.__name__).lower()


def _split(spec: str) -> tuple[str, dict[str, OptionValue]]:
    try:
        return split_options(spec)
    except OptionError as error:
        raise BotLoadError(f"the bot {spec!r} {error}") from None


def _file_of(spec: str) -> tuple[Path | None, str]:
    match = _FILE.fullmatch(spec)
    if match is not None:
        return Path(match["path"]), match["name"] or ""
    if "/" in spec or "\\" in spec:
        head, colon, tail = spec.rpartition(":")
        return (Path(head), tail) if colon and tail.isidentifier() else (Path(spec), "")
    return None, ""


def _siblings(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.py")) if path.parent.is_dir() else []


def _is_bot(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Bot) and value not in (Bot, SearchBot)


def _plays(bot: type[Bot]) -> bool:
    """Return whether a class is a bot as it stands, and not the abstract base of others."""
    return _chooses(bot) and not inspect.isabstract(bot)


def _chooses(bot: type[Bot]) -> bool:
    """Return whether a class has a ``choose`` that can do its work."""
    if bot.choose is SearchBot.choose:
        return hasattr(bot, "search")
    return bot.choose is not Bot.choose


def _checked(found: object, what: str) -> type[Bot]:
    if not (isinstance(found, type) and issubclass(found, Bot)):
        raise BotLoadError(f"{what} is not a bot: it must derive from plyhouse.bots.Bot")
    if not _chooses(found):
        ways = "write one, or name a search" if issubclass(found, SearchBot) else "write one"
        raise BotLoadError(f"{what} has no choose(self, turn): {ways}")
    abstract = sorted(getattr(found, "__abstractmethods__", ()))
    if abstract:
        raise BotLoadError(f"{what} is abstract: it must define {_listed(abstract)}")
    try:
        inspect.signature(found.__init__).bind(None)
    except TypeError:
        raise BotLoadError(
            f"{what} takes arguments without a default: write __init__(self) or give each one"
        ) from None
    games = found.games
    if isinstance(games, str) or not all(isinstance(game, str) for game in games):
        raise BotLoadError(f'{what}: games must be a tuple of texts, like games = ("pig",)')
    return found


def _run_file(path: Path) -> ModuleType:
    # The folder of the bot is searched for modules, as if it had been run as a script.
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Not to take the place of a module that is in use: a bot may be called random.py.
    name = path.stem if path.stem.isidentifier() and not _taken(path.stem) else f"bot_{path.stem}"
    try:
        importlib.util.decode_source(path.read_bytes())
    except (SyntaxError, UnicodeDecodeError):
        raise SyntaxError("it is not in UTF-8: save it as UTF-8") from None
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _taken(name: str) -> bool:
    return name in sys.modules or name in sys.stdlib_module_names


def _import(run: Callable[[], ModuleType], what: str, path: Path | None) -> ModuleType:
    try:
        return run()
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit too: a script that ends by sys.exit()
        raise BotLoadError(
            f"{what} does not import: {_sentence(error)}{_where(error, path)}{_remedy(error)}",
            "".join(traceback.format_exception(error.with_traceback(_own_part(error)))),
        ) from error


def _own_part(error: BaseException) -> TracebackType | None:
    """Return the traceback from the author's file on: how we came to run it is of no use to
    anybody.
    """
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and not file.startswith("<frozen importlib"):
            break
        trace = trace.tb_next
    return trace


def _sentence(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _remedy(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        return f"; {error.name} must be installed beside plyhouse"
    return ""


def _where(error: BaseException, path: Path | None) -> str:
    """`` (mybot.py:3: import nothing)``: the last place in the author's own code."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        line = (error.text or "").strip()
        return f" ({Path(error.filename).name}:{error.lineno}{f': {line}' if line else ''})"
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if path is not None and Path(frame.filename).parent == path.parent
    ]
    if not own:
        return ""
    last = own[-1]
    return f" ({Path(last.filename).name}:{last.lineno}{f': {last.line}' if last.line else ''})"


def _near(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
