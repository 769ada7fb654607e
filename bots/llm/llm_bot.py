"""``llm``: plays by a chat model, ``llm(model="NAME", endpoint="http://127.0.0.1:11434/v1")``."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plyhouse.bots.api import Bot, BotError, NoAnswer, Turn
from plyhouse.bots.llm.answers import read
from plyhouse.bots.llm.chat import Chat, EndpointError
from plyhouse.bots.llm.prompts import again, question, system
from plyhouse.protocol.parts import DEFAULT_HELP, HELP_LEVELS, HelpLevel, help_label

__all__ = ["LlmBot"]

TRIES: Final = 3
"""Answers that a model may give for one ply."""
RESERVE: Final = 0.2
"""Seconds of a turn in which no further answer is waited for."""
MOST_NAMED: Final = 40
"""Characters of a model's name in the label of a version, the last ones."""
APIS: Final = ("openai", "anthropic")


@dataclass(slots=True)
class Ledger:
    """Costs of one ply."""

    tries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    outcome: str = ""
    """``played``, or why the last answer was not: ``illegal``, ``unreadable`` or an endpoint's."""

    def text(self, prices: tuple[float, float] | None) -> str:
        """Return it as a line for replays; prices are dollars for a million tokens."""
        parts = [f"{self.tries} {'try' if self.tries == 1 else 'tries'}"]
        parts.append(f"{self.tokens_in} + {self.tokens_out} tokens")
        if prices is not None:
            cost = (self.tokens_in * prices[0] + self.tokens_out * prices[1]) / 1e6
            parts.append(f"{cost:.4g} USD")
        return ", ".join([*parts, f"{self.seconds:.1f} s", self.outcome])


class LlmBot(Bot):
    """Bot that asks a chat model for each action, and plays what it names.

    model: name of the model at the endpoint.
    endpoint: address of the API, such as http://127.0.0.1:11434/v1.
    api: form of the API: openai or anthropic.
    key: name of the environment variable with the secret.
    help: what the model is shown: position, actions (with the legal ones) or rules (with both).
    max_tokens: longest answer, in tokens.
    prices: TOML file with dollars for a million tokens: [NAME] with input and output.
    transcripts: folder for what was asked and answered, a file of JSON lines for each match.
    """

    name = "llm"
    reads = ("prices",)
    preload = True
    play_best_at_deadline = False

    def __init__(
        self,
        model: str = "",
        endpoint: str = "http://127.0.0.1:11434/v1",
        api: str = "openai",
        key: str = "PLYHOUSE_LLM_KEY",
        help: str = DEFAULT_HELP,  # noqa: A002 (the word for it on the command line)
        max_tokens: int = 4096,
        prices: str = "",
        transcripts: str = "",
    ) -> None:
        if not model:
            raise BotError('llm needs a model: llm(model="NAME", endpoint="http://HOST/v1")')
        if api not in APIS:
            raise BotError(f"api={api!r} is not known: choose {' or '.join(APIS)}")
        if help not in HELP_LEVELS:
            raise BotError(f"help={help!r} is not known: choose one of {', '.join(HELP_LEVELS)}")
        if not endpoint.startswith(("http://", "https://")):
            raise BotError(
                f"endpoint={endpoint!r} is no address: it begins with http:// or https://"
            )
        secret = os.environ.get(key, "").strip()
        if not re.fullmatch(r"[!-~]*", secret):
            raise BotError(f"{key} holds no key: a key has letters, digits and signs of ASCII only")
        self._chat = Chat(model, endpoint, api, secret, max_tokens=max_tokens)
        self._level: HelpLevel = help
        self._prices = _prices(prices, model) if prices else None
        self._transcripts = Path(transcripts) if transcripts else None
        self._model = model

    @classmethod
    def version_label(cls, model: str = "", help: HelpLevel = DEFAULT_HELP, **others: Any) -> str:  # noqa: A002 (as above)
        """Return model and level of help, by which results are kept apart."""
        return help_label(help, model[-MOST_NAMED:])

    async def choose(self, turn: Turn) -> Any:
        """Ask for an action, up to `TRIES` times; raise `NoAnswer` without one."""
        ledger = Ledger()
        begin = time.monotonic()
        asked = system(turn, self._level)
        talk = [("user", question(turn, self._level))]
        action = ""
        try:
            while not action and ledger.tries < TRIES:
                ledger.tries += 1
                said = await self._chat.ask(asked, talk, max(0.0, turn.time_left - RESERVE))
                ledger.tokens_in += said.tokens_in
                ledger.tokens_out += said.tokens_out
                found = read(turn, said.text)
                action = found.action
                failed = "illegal" if found.illegal else "unreadable"
                ledger.outcome = "played" if action else failed
                why = found.why
                if not action and (said.cut_off or said.refused):
                    why = f"{why} It was {'cut off' if said.cut_off else 'refused'}."
                talk.append(("assistant", said.text[-4000:] or "(nothing)"))
                if not action:
                    talk.append(("user", again(turn, found.said, why, illegal=found.illegal)))
        except EndpointError as error:
            ledger.outcome = error.code
            sys.stderr.write(f"ply {turn.ply}: {error}\n")
            if error.code == "slow":
                # Nothing is played for it, so its flag falls.
                await asyncio.sleep(turn.time_left + 60)
        finally:
            ledger.seconds = time.monotonic() - begin
            self._keep(turn, asked, talk, ledger)
        text = ledger.text(self._prices)
        if not action:
            raise NoAnswer(f"{self._model} named no legal action: {text}")
        turn.info(text=text)
        return action

    def _keep(self, turn: Turn, asked: str, talk: list[tuple[str, str]], ledger: Ledger) -> None:
        """Append a turn to the transcript of its match."""
        if self._transcripts is None:
            return
        line = {
            "match": turn.match.id,
            "ply": turn.ply,
            "model": self._model,
            "help": self._level,
            "outcome": ledger.outcome,
            "tries": ledger.tries,
            "tokens": [ledger.tokens_in, ledger.tokens_out],
            "seconds": round(ledger.seconds, 3),
            "talk": [{"role": "system", "text": asked}]
            + [{"role": role, "text": text} for role, text in talk],
        }
        self._transcripts.mkdir(parents=True, exist_ok=True)
        name = "".join(each if each.isalnum() or each in "-_" else "_" for each in turn.match.id)
        with (self._transcripts / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _prices(path: str, model: str) -> tuple[float, float]:
    """Return dollars for a million tokens of input and output; raises `BotError`."""
    try:
        row = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))[model]
        return float(row["input"]), float(row["output"])
    except KeyError as error:
        raise BotError(f"{path} has no prices of {model}: [{model!r}] needs {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise BotError(f"{path} cannot be read as prices: {error}") from error
