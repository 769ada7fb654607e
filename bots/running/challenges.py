"""Challenges of a run: a bot asks named opponents for a match, and again after each one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plyhouse.bots.client.client import Client, ClientError, ConnectionLost
from plyhouse.games.errors import listed
from plyhouse.protocol.messages import Answer, Challenge, ChallengeClosed, Ok

__all__ = ["ChallengeFailed", "ChallengeRequest", "Challenger"]


class ChallengeFailed(ClientError):  # noqa: N818 - the opponent's decision
    """An opponent declined, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class ChallengeRequest:
    """The opponents of a challenge, each ``player/bot``, and its terms."""

    opponents: Sequence[str]
    game: str
    time_control: str = "move:1"
    rated: bool = False
    mirrored: bool = False


class Challenger:
    """Sends the challenge of one run, one at a time."""

    def __init__(
        self, request: ChallengeRequest, say: Callable[[str], None], fail: Callable[..., None]
    ) -> None:
        """``fail`` receives the error that ends the run."""
        self._request = request
        self._say = say
        self._fail = fail
        self._open = ""

    async def challenge(self, client: Client) -> None:
        """Send the challenge; do nothing while the last one is open."""
        if self._open:
            return
        asked = self._request
        first, *others = asked.opponents
        try:
            answer = await client.request(
                lambda number: Challenge(
                    number,
                    first,
                    asked.game,
                    asked.time_control,
                    asked.rated,
                    mirrored=asked.mirrored,
                    others=others,
                )
            )
        except ConnectionLost:
            return  # sent again after the reconnect
        except ClientError as error:
            self._fail(error)
            return
        if isinstance(answer, Ok):
            self.opened(answer.challenge)
            kind = "rated" if asked.rated else "casual"
            self._say(
                f"challenging {listed(asked.opponents)}: {asked.game}, {asked.time_control}, {kind}"
            )

    def opened(self, challenge: str) -> None:
        """Note the id of the open challenge."""
        self._open = challenge

    def closed(self, message: ChallengeClosed) -> None:
        """Note that a challenge is no longer open."""
        if message.challenge != self._open:
            return
        self._open = ""
        who = listed(self._request.opponents)
        if message.reason == "declined":
            self._fail(ChallengeFailed(f"{who} declined: {message.detail or 'no reason given'}."))
        elif message.reason == "expired":
            self._fail(ChallengeFailed(f"{who} did not answer in time."))

    def lost(self) -> None:
        """Forget the open challenge: the server did so when the connection was lost."""
        self._open = ""

    def begun(self) -> None:
        """Note that a match began: a hosted opponent accepts without a word."""
        self._open = ""

    async def withdraw(self, client: Client) -> None:
        """Withdraw the open challenge."""
        challenge, self._open = self._open, ""
        if challenge:
            with contextlib.suppress(ClientError):  # it may be over
                await client.request(lambda number: Answer(number, challenge, accept=False))
