"""The server's settings: one dataclass, validated, from which the command line makes its options.

Each field has its help text and choices in ``metadata``.  So the option, the environment variable
and the documentation always agree with the checks here.  Durations are in seconds unless a name
ends in ``_ms``.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import ipaddress
import logging
import re
import tomllib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from plyhouse.protocol.hosting.package_rules import MAX_PACKED
from plyhouse.protocol.text import decoded

log = logging.getLogger("plyhouse.server.config")

LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("console", "json")


_ORIGIN: Final = re.compile(r"https?://(\*\.)?[A-Za-z0-9.\[\]:-]+")


class ConfigError(Exception):
    """A setting is unknown or out of its range; the message names it and what would be right."""

    code = "config/invalid"


def setting(default: Any, text: str, **metadata: Any) -> Any:
    """A dataclass field with its help text; ``minimum``, ``maximum``, ``choices`` are enforced.

    ``former`` is an earlier name, which files, options and the environment may still use.
    """
    return dataclasses.field(default=default, metadata={"help": text, **metadata})


@dataclasses.dataclass(frozen=True, slots=True)
class ServerConfig:
    """All settings of ``plyhouse serve``; raises `ConfigError` when made with impossible ones."""

    host: str = setting("127.0.0.1", "Address to listen on; 0.0.0.0 for every network interface.")
    port: int = setting(8765, "Port to listen on; 0 picks a free one.", minimum=0, maximum=65535)
    database: str = setting(
        "sqlite:///plyhouse.db",
        "Where results live: sqlite:///FILE or postgresql://USER@HOST/NAME.",
    )
    cluster: str = setting(
        "",
        "NATS servers of a cluster, as nats://HOST:4222; empty for a single server.",
    )
    registration: str = setting(
        "closed",
        "Creation of accounts: 'open' for everybody, 'closed' with `plyhouse admin player add`.",
        choices=("closed", "open"),
    )
    guests: bool | None = setting(
        None,
        "Let people play without an account: casual matches, one at a time, for a few hours. "
        "By default, only on a loopback address without proxies.",
    )
    max_guests: int = setting(100, "Guests at once.", minimum=1)
    max_guests_per_address: int = setting(20, "Guests of one address at once.", minimum=1)
    guest_hours: float = setting(
        12.0, "Hours after which a guest is forgotten.", minimum=0.1, maximum=720.0, unit="HOURS"
    )
    builtin_bots: bool | None = setting(
        None,
        "Start bots for people to play against (easy, medium, hard), in separate processes, at "
        "the first request. By default, only on a loopback address without proxies.",
        former="house_bots",
    )
    game_files: str = setting(
        "",
        "Games to host in addition to the built-in ones, with commas: chomp.py, "
        "mygame.py:MyGame. The files are run.",
    )
    embedding: str = setting(
        "",
        "Sites that may show matches in a frame, with commas (https://example.org), or '*' for "
        "all.",
    )
    allow_own_bots: bool = setting(False, "Let two bots of one player meet in rated matches.")
    illegal_rule: str = setting(
        "forfeit",
        "Penalty of an illegal action: 'forfeit' loses the match, 'retry' lets the bot try "
        "again on the same clock.",
        choices=("forfeit", "retry"),
    )
    suspend_after: int = setting(
        10,
        "Forfeits among the last suspend_window matches that suspend a version; 0: never.",
        minimum=0,
    )
    suspend_window: int = setting(
        10,
        "Matches of a version among which suspend_after counts forfeits; with the same number, "
        "forfeits in a row.",
        minimum=1,
        maximum=1000,
    )
    ready_timeout: float = setting(
        20.0, "Seconds in which both bots must be ready before a match is aborted.", minimum=0.1
    )
    disconnect_grace: float = setting(
        60.0, "Seconds a bot may be away from a running match before it forfeits.", minimum=0.0
    )
    auth_timeout: float = setting(10.0, "Seconds a new connection has to log in.", minimum=0.1)
    heartbeat: float = setting(
        4.0,
        "Seconds between the server's pings to a silent connection.",
        minimum=0.05,
        maximum=60.0,
    )
    peer_timeout: float = setting(
        9.0, "Seconds of silence after which a connection counts as dead.", minimum=0.1
    )
    max_move_time: float = setting(
        3600.0, "Longest time for one move that a time control may give.", minimum=0.001
    )
    max_total_time: float = setting(
        86400.0, "Longest total time per seat that a time control may give.", minimum=0.001
    )
    lag_per_move_ms: int = setting(
        200, "Most network lag given back per move, in milliseconds.", minimum=0, maximum=10_000
    )
    lag_total_ms: int = setting(
        5_000, "Most network lag given back per seat and match, in milliseconds.", minimum=0
    )
    max_connections: int = setting(1000, "Connections accepted at once.", minimum=1)
    max_spectators: int = setting(
        500,
        "Spectators among them, limited to half of the connections.",
        minimum=0,
    )
    max_connections_per_address: int = setting(
        500, "Connections of one address at once, of any kind.", minimum=1
    )
    max_pending_logins_per_address: int = setting(
        200,
        "Connections of one address before login; a new one replaces the oldest.",
        minimum=1,
        former="max_logins_per_address",
    )
    http_burst: int = setting(
        10_000,
        "Units of HTTP requests that one address may use at once: a file of the web client costs "
        "1, a page or call 4, a record, replay or data set 20.",
        minimum=100,
    )
    http_per_second: float = setting(
        200.0, "Units that an address gets back each second; 0: no limit.", minimum=0.0
    )
    connections_burst: int = setting(
        2000, "Connections that one address may open at once.", minimum=1
    )
    connections_per_second: float = setting(
        100.0,
        "Connections that an address may open each second after that; 0: no limit.",
        minimum=0.0,
    )
    metrics_addresses: str = setting(
        "",
        "Addresses and networks that may read /metrics, as this machine may, with commas: "
        "192.0.2.7, 10.0.0.0/8.",
    )
    proxies: str = setting(
        "",
        "Addresses of reverse proxies, with commas, whose X-Forwarded-For is believed.",
    )
    max_matches_per_bot: int = setting(32, "Matches one bot may play at once.", minimum=1)
    max_seeks_per_bot: int = setting(20, "Seeks and challenges one bot may have open.", minimum=1)
    max_plies_per_day: int = setting(
        2_000_000,
        "Plies that one player may play in a day outside of competitions, about 100 bytes each; "
        "0: no limit.",
        minimum=0,
    )
    max_bots_per_player: int = setting(200, "Bots one player may have.", minimum=1)
    max_versions_per_bot: int = setting(1000, "Versions one bot may have.", minimum=1)
    mcp: bool = setting(
        False,
        "Let language models play through the Model Context Protocol at /mcp; needs the extra "
        "'mcp'.",
    )
    hosted: bool = setting(
        False,
        "Accept submissions (plyhouse submit), for a runner to check and run in a sandbox.",
    )
    local_runner: bool | None = setting(
        None,
        "With hosted: run submissions on this machine, too (plyhouse runner). By default, only "
        "on a loopback address without proxies.",
    )
    max_submission_bytes: int = setting(
        MAX_PACKED, "Bytes of a submitted package.", minimum=1024, maximum=1_000_000_000
    )
    max_submitted_bytes_per_player: int = setting(
        268_435_456, "Bytes of all stored packages of one player.", minimum=1024
    )
    max_output_bytes_per_player: int = setting(
        16_777_216,
        "Bytes of stored output of one player's hosted bots; the oldest is removed first.",
        minimum=65_536,
    )
    submissions_per_hour: int = setting(
        30, "Packages that one player may submit within an hour.", minimum=1
    )
    hosted_packages: str = setting(
        "numpy,scipy",
        "Libraries that requirements.txt may name, with commas; runners must have them.",
    )
    hosted_programs: str = setting(
        "node", "Programs that may start a package, with commas; runners must have them."
    )
    hosted_play: str = setting(
        "players",
        "With hosted: people who may play against opened bots: 'players' (with an account), "
        "'guests' as well, or 'nobody'.",
        choices=("players", "guests", "nobody"),
    )
    hosted_play_per_player: int = setting(
        1, "With hosted: bots that run at a time for one person.", minimum=1
    )
    max_queue: int = setting(
        1_048_576, "Bytes waiting for a slow connection before it is dropped.", minimum=1024
    )
    messages_per_second: int = setting(
        20_000, "Messages per second that one connection may send.", minimum=1
    )
    mistakes_per_second: int = setting(
        20, "Refused messages per second that one connection may send.", minimum=1
    )
    challenge_timeout: float = setting(
        60.0, "Seconds until an unanswered challenge expires.", minimum=0.1
    )
    reviews: int = setting(
        1,
        "Reviews of finished matches computed at a time, each in its own process of the lowest "
        "priority; 0 for none.",
        minimum=0,
    )
    review_seconds: float = setting(
        15.0, "Seconds for one review, which is stored.", minimum=0.1, maximum=600.0
    )
    review_folder: str = setting(
        "", "Folder that stores reviews; without one they last until the server stops."
    )
    review_command: str = setting(
        "", "Program that reviews the record it reads; `plyhouse serve` has its own."
    )
    trees: int = setting(
        1,
        "Search trees computed at a time for pages of matches, each in its own process of the "
        "lowest priority; 0 for none.",
        minimum=0,
    )
    tree_seconds: float = setting(
        5.0,
        "Seconds for one tree, which is stored (in --review-folder, too).",
        minimum=0.1,
        maximum=600.0,
    )
    trees_per_minute: int = setting(30, "New trees for one visitor in a minute.", minimum=1)
    tree_command: str = setting(
        "", "Program that draws a tree of the record it reads; `plyhouse serve` has its own."
    )
    log_level: str = setting("info", "How much the server says about itself.", choices=LOG_LEVELS)
    log_format: str = setting(
        "console", "How it says it: for people, or one JSON object a line.", choices=LOG_FORMATS
    )

    def __post_init__(self) -> None:
        hints = _types()
        for field in dataclasses.fields(self):
            value = _checked(field, hints[field.name], getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        if self.suspend_after > self.suspend_window:
            raise ConfigError(
                f"suspend_window ({self.suspend_window}) must be at least suspend_after "
                f"({self.suspend_after}): so many forfeits cannot be among fewer matches."
            )
        for origin in self.embedders:
            # It goes into a header: nothing may stand there that ends it, or adds a rule to it.
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"embedding lists {origin!r}, which is no site: write its scheme and host, "
                    "such as https://example.org, or '*' for all."
                )
        try:
            _ = self.monitors
        except ValueError as error:
            raise ConfigError(
                f"metrics_addresses: {error}; write addresses or networks with commas, such as "
                "192.0.2.7, 10.0.0.0/8."
            ) from error
        if self.peer_timeout <= self.heartbeat:
            raise ConfigError(
                f"peer_timeout ({self.peer_timeout:g} s) must be longer than "
                f"heartbeat ({self.heartbeat:g} s)."
            )

    @property
    def at_home(self) -> bool:
        """True if only people at this machine get here: loopback, and no proxy lets others in."""
        try:
            loopback = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            loopback = self.host == "localhost"
        return loopback and not self.proxies.strip()

    @property
    def game_sources(self) -> tuple[str, ...]:
        """Where the games come from that are neither built in nor plug-ins."""
        return tuple(source for each in self.game_files.split(",") if (source := each.strip()))

    @property
    def monitors(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The networks that may read ``/metrics``, in addition to this machine."""
        named = filter(None, map(str.strip, self.metrics_addresses.split(",")))
        return tuple(map(ipaddress.ip_network, named))

    @property
    def takes_guests(self) -> bool:
        """True if people may play without an account."""
        return self.at_home if self.guests is None else self.guests

    @property
    def has_builtin_bots(self) -> bool:
        """True if ``plyhouse serve`` starts bots of its own."""
        return self.at_home if self.builtin_bots is None else self.builtin_bots

    @property
    def has_local_runner(self) -> bool:
        """True if ``plyhouse serve`` starts a runner of its own."""
        return self.hosted and (self.at_home if self.local_runner is None else self.local_runner)

    @property
    def embedders(self) -> tuple[str, ...]:
        """The sites that may show matches in their frames; none by default."""
        return tuple(origin for each in self.embedding.split(",") if (origin := each.strip()))

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], source: str = "settings") -> Self:
        """Make a configuration from named values; `ConfigError` on unknown names.

        ``source`` says in messages where the values came from.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean '{near[0]}'?" if near else ""
                raise ConfigError(f"{source} has no setting called '{name}'.{hint}")
        return cls(**values)


def config_fields() -> tuple[dataclasses.Field[Any], ...]:
    """Every setting in order, each with ``metadata['help']``; for options and documentation."""
    return dataclasses.fields(ServerConfig)


def read_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a TOML file, at the top level or in a table ``[server]``, unchecked.

    Raises `ConfigError` when the file cannot be read or is not TOML.
    """
    try:
        values = tomllib.loads(decoded(Path(path).read_bytes()))
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError as well
        what = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{path} is not valid TOML: {what}.") from error
    table = values.pop("server", {})
    if not isinstance(table, dict):
        raise ConfigError(f"'server' in {path} must be a table: [server].")
    values |= table
    for field in config_fields():
        former = field.metadata.get("former")
        if former in values:
            names = {"file": str(path), "former": former, "setting": field.name}
            log.warning("setting has a new name", extra=names)
            values.setdefault(field.name, values.pop(former))
    return values


@functools.cache
def _types() -> dict[str, Any]:
    """The type of each setting; to evaluate them takes longer than all checks."""
    return typing.get_type_hints(ServerConfig)


def _checked(field: dataclasses.Field[Any], kind: Any, value: Any) -> Any:
    """``value`` as the field's type, within its range; `ConfigError` otherwise."""
    name = field.name
    if kind == (bool | None):
        if value is None:
            return None
        kind = bool
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise ConfigError(f"{name} must be {words[kind]}, not {value!r}.")
    choices = field.metadata.get("choices")
    if choices is not None and value not in choices:
        listed = " or ".join(f"'{choice}'" for choice in choices)
        raise ConfigError(f"{name} must be {listed}, not {value!r}.")
    minimum, maximum = field.metadata.get("minimum"), field.metadata.get("maximum")
    if minimum is not None and not value >= minimum:
        raise ConfigError(f"{name} must be at least {minimum:g}, not {value:g}.")
    if maximum is not None and not value <= maximum:
        raise ConfigError(f"{name} must be at most {maximum:g}, not {value:g}.")
    return value
