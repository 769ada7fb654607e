"""A final of submitted bots, played by real processes while these are killed.

    python benchmarks/hosted_final.py [--bots 12] [--game connect_four] [--kills 5]

Each bot is deterministic, so the table is known before: the bots' choices are played out here by
the rules alone, and a final that ends with another table is a failure (exit code 1).  With
``--kills N``, server, runner and fork server are killed in turn (SIGKILL) and restarted N times at
even distances, and the table must be the same.  The runner checks the bots.  All that they print
must arrive at the server, under the ply in which they printed it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from plyhouse.clients.shared.child_processes import Processes
from plyhouse.clients.shared.http import ask
from plyhouse.games.base import TERMINAL
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.hosting.package import Rules as PackageRules
from plyhouse.protocol.hosting.package import digest_of, from_upload, pack
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import people, submission_checks, submission_sql
from plyhouse.storage.rows import wall_ms
from plyhouse.storage.store import Store

BOT = """
import time
from plyhouse.bots import Bot

NUMBER = {number}
seen = []


class Numbered(Bot):
    games = ("{game}",)

    def choose(self, turn):
        seen.append(turn.ply)
        print(f"I am at {{turn.ply}}")  # in one piece, which a kill cannot cut
        if any(later < earlier for earlier, later in zip(seen, seen[1:])):
            raise RuntimeError(f"this process has played before: {{seen}}")
        end = time.process_time() + {think}
        while time.process_time() < end:
            pass
        return turn.legal[(NUMBER * (turn.ply + 3) + turn.ply * turn.ply) % len(turn.legal)]
"""
BAD = b"""
from plyhouse.bots import Bot

class Nosy(Bot):
    games = ("tic_tac_toe",)

print("I look at", open("/etc/passwd").read())
"""
KILLED = ("runner", "server", "fork_server")
PATIENCE = 480.0


def choice(number: int, ply: int, legal: int) -> int:
    """The same rule as the bots'."""
    return (number * (ply + 3) + ply * ply) % legal


def expected(spec: str, bots: int) -> dict[str, float]:
    """Points by bot of a mirrored round robin, by the rules alone."""
    game = get_game(spec)
    points = dict.fromkeys((name(each) for each in range(bots)), 0.0)
    for pair in itertools.combinations(range(bots), 2):
        for order in (pair, pair[::-1]):
            state, ply = game.initial_state(), 0
            while state.to_move != TERMINAL:
                legal = state.actions()
                state = state.after(legal[choice(order[state.to_move], ply, len(legal))])
                ply += 1
            for bot, (score, _) in zip(order, match_scores(state.returns()).seats, strict=True):
                points[name(bot)] += score
    return points


def name(number: int) -> str:
    return f"player{number:02}/numbered"


async def handed_in(url: str, args: argparse.Namespace) -> tuple[str, str]:
    """Submit a bot for each player; return the tokens of an organiser and of a runner."""
    store = await Store.open(url)
    try:
        for number in range(args.bots):
            player = await store.add_player(name(number).partition("/")[0])
            bot = await store.ensure_bot(player.id, "numbered", "bot")
            text = BOT.format(number=number, game=args.game, think=args.think)
            package = from_upload("mybot.py", text.encode(), PackageRules())
            row = await store.submissions.add(
                bot.id, "", digest_of(package), pack(package), wall_ms()
            )
            if number < args.checked:
                await store.write(submission_sql.check, row.id, True, "", [args.game], wall_ms())
        staff = await store.add_player("staff")
        if args.bad:
            bot = await store.ensure_bot(staff.id, "nosy", "bot")
            bad = from_upload("nosy.py", BAD, PackageRules())
            await store.submissions.add(bot.id, "", digest_of(bad), pack(bad), wall_ms())
        return (
            await store.add_token(staff.id, ("organise", "admin")),
            await store.add_token(staff.id, ("runner",)),
        )
    finally:
        await store.close()


class Final:
    """One final with all of its processes."""

    def __init__(self, folder: Path, args: argparse.Namespace) -> None:
        self.args = args
        self.folder = folder
        self.processes = Processes(folder)
        self.database = f"sqlite:///{folder}/final.db"
        self.organiser, self.token = asyncio.run(handed_in(self.database, args))
        self.server = ""
        self.killed: list[str] = []

    def start_server(self, port: int = 0) -> None:
        options = [f"--port={port}", f"--database={self.database}", "--log-level=info"]
        options += ["--hosted", "--local-runner" if self.args.local else "--no-local-runner"]
        found = self.processes.start_server([*options, "--no-builtin-bots"])
        self.server = self.server or found

    def start_runner(self) -> None:
        options = [f"--server={self.server}", f"--folder={self.folder}/runner", "--name=machine"]
        if self.args.tier:
            options.append(f"--tier={self.args.tier}")
        if self.args.cores:
            options.append(f"--cores={self.args.cores}")
        self.processes.start("runner", ["runner", *options], {"PLYHOUSE_TOKEN": self.token})

    def ask(self, method: str, target: str, body: Any = None) -> Any:
        """Ask the server, for as long as it is being started."""
        deadline = time.monotonic() + 60
        while True:
            try:
                wanted = Call(method, f"/api/v1/{target}", lambda answer: answer, body=body)
                return ask(self.server, wanted, self.organiser)
            except (Unreachable, ApiError) as error:
                passing = isinstance(error, Unreachable) or error.status == 503
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def wait_for_checks(self) -> list[str]:
        """Wait until every bot was looked at; returns what was said of those that were refused."""

        async def look() -> list[Any]:
            store = await Store.open(self.database)
            try:
                waiting = await store.read(submission_checks.waiting)
                players = [each.id for each in await store.read(people.list_players)]
                rows = [await store.read(submission_sql.of, player_id=each) for each in players]
                return [waiting, [row for some in rows for row in some]]
            finally:
                await store.close()

        deadline = time.monotonic() + PATIENCE
        while True:
            waiting, rows = asyncio.run(look())
            if not waiting:
                return [row.report for row in rows if row.status != "ready"]
            self.check_runner()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(waiting)} checks are still to be made")
            time.sleep(0.3)

    def check_runner(self) -> None:
        process = self.processes.running.get("runner")
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"the runner has ended: {self.processes.last_line('runner')}")

    def fork_server(self) -> int:
        """The fork server that the runner has now; 0 if there is none."""
        parent = self.processes.running["runner"].pid
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                for child in (task / "children").read_text().split():
                    line = Path(f"/proc/{child}/cmdline").read_bytes()
                    if b"plyhouse.bots.sandbox.fork_server" in line:
                        return int(child)
        return 0

    def kill(self, who: str) -> None:
        """Kill one of them, and start it again where nobody else does."""
        self.killed.append(who)
        if who == "fork_server":
            pid = self.fork_server()
            if pid:
                os.kill(pid, signal.SIGKILL)
        else:
            process = self.processes.running.pop(who)
            process.kill()
            process.wait()
        if who == "runner":
            self.start_runner()
        elif who == "server":
            self.start_server(int(self.server.rpartition(":")[2]))

    def play(self) -> tuple[dict[str, float], float, dict[str, Any]]:
        """Play it to the end; returns the table, how long it took, and how the server saw it."""
        args = self.args
        text = round_robin_text(
            "final", args.game, args.time_control, rounds=1, mirrored=True, rated=False
        )
        body = {"file": text, "entries": [name(each) for each in range(args.bots)]}
        began = time.monotonic()
        self.ask("POST", "competitions", body)
        at = [(each + 1) / (args.kills + 1) for each in range(args.kills)]
        who = itertools.cycle(KILLED)
        shown = -1
        while True:
            competition = self.ask("GET", "competitions/final")
            (view,) = competition["progress"]
            if view["finished"] != shown:
                shown = view["finished"]
                began_waiting = time.monotonic()
            if competition["status"] == "finished":
                board = self.ask("GET", "competitions/final/board")
                table = {row["entry"]: row["wins"] + row["draws"] / 2 for row in board}
                return table, time.monotonic() - began, view
            if at and view["finished"] >= at[0] * view["planned"]:
                at.pop(0)
                self.kill(next(who))
            self.check_runner()
            if time.monotonic() - began_waiting > 120:
                raise TimeoutError(f"nothing has ended for two minutes: {view['waiting_for']}")
            time.sleep(0.1)


def printed(final: Final, plies: dict[str, int]) -> list[str]:
    """Return missing output of the bots, and output in wrong places."""
    wrong = []
    deadline = time.monotonic() + 60
    for match, count in plies.items():
        missing = {0, 1}
        while missing and time.monotonic() < deadline:
            parts = final.ask("GET", f"matches/{match}/output")
            lines = [(part["seat"], line) for part in parts for line in part["lines"]]
            said = [(seat, line) for seat, line in lines if line["text"].startswith("I am at")]
            wrong += [
                f"{match}, seat {seat}: {line}"
                for seat, line in said
                if line["text"] != f"I am at {line['ply']}" or line["ply"] % 2 != seat
            ]
            # A kill takes what was printed in the ply that it interrupts.
            needed = count - (4 if final.killed else 0)
            missing = {
                seat
                for seat in (0, 1)
                if len({line["ply"] for each, line in said if each == seat}) < needed // 2
            }
            missing |= {0, 1} - {part["seat"] for part in parts if part["costs"]}
            time.sleep(0.1 if missing else 0)
        wrong += [f"{match}: not all of seat {seat} has come" for seat in missing]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bots", type=int, default=12)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--time-control", default="total:20+1")
    parser.add_argument("--think", type=float, default=0.004, help="CPU seconds a ply")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--cores", type=int, default=0)
    parser.add_argument("--tier", default="")
    parser.add_argument("--checked", type=int, default=0, help="bots that were checked before")
    parser.add_argument("--bad", action="store_true", help="hand in one more, which is refused")
    parser.add_argument("--local", action="store_true", help="the server's own runner does it")
    parser.add_argument("--keep", action="store_true", help="keep the folder, with all logs")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if args.keep:
            folder = tempfile.mkdtemp(prefix="hosted-final-")
            print(f"logs in {folder}")
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hosted-final-"))
        final = Final(Path(folder), args)
        stack.callback(final.processes.close)
        final.start_server()
        if not args.local:
            final.start_runner()
        began = time.monotonic()
        refused = final.wait_for_checks()
        print("".join(f"refused: {report}\n" for report in refused), end="")
        if len(refused) != args.bad:
            return 1
        print(f"{args.bots} bots checked in {time.monotonic() - began:.1f} s")
        table, took, view = final.play()
        print(f"{view['finished']} of {view['planned']} matches in {took:.1f} s")
        print(f"killed: {', '.join(final.killed) or 'nobody'}")
        listed = final.ask("GET", f"matches?competition={view['tournament']}&limit=200")
        plies = {each["match"]: each["ply"] for each in listed}
        wrong = printed(final, plies)
        print("\n".join(wrong[:20]) or f"what bots printed in {len(plies)} matches has come")
    wanted = expected(args.game, args.bots)
    for bot, points in sorted(wanted.items(), key=lambda line: -line[1]):
        mark = "" if abs(table.get(bot, -1.0) - points) < 1e-9 else "   WRONG"
        print(f"{bot:20} {points:6.1f} {table.get(bot, -1.0):6.1f}{mark}")
    same = all(abs(table.get(bot, -1.0) - points) < 1e-9 for bot, points in wanted.items())
    print("the table is as it has to be" if same else "the table is WRONG")
    return 0 if same and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
