"""Mutation testing with cosmic-ray: do the tests of a module notice changes of its behaviour?

    python -m tests.mutants server/match/clock.py             30 mutants, drawn with seed 1
    python -m tests.mutants server/match/clock.py --all
    python -m tests.mutants --seed 7 --sample 50              every module of the table

`tests/mutants.toml` names the test files that must kill the mutants of each module, and its
equivalent mutants with a reason.  Each mutant runs those files, interpreted, in a copy of the tree.
Its process is forked from one that has imported pytest and other packages but none of ours, which
saves the time of these imports.  A run that takes too long counts as killed.  A sample draws places
in the code first and one mutant for each, so that a sum with ten other operators weighs no more
than a comparison.  The draw depends on the text of a line and its function only: edits elsewhere
leave it.

Install it with ``pip install -e .[mutants]``.
"""
# ruff: noqa: T201 (a program of its own, which prints)

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.ast import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    ast_nodes,
    get_ast,
)
from cosmic_ray.mutating import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    mutate_code,
)
from cosmic_ray.operators import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    operator as operators,
)
from cosmic_ray.plugins import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    get_operator,
    operator_names,
)

ROOT = Path(__file__).resolve().parents[1]
GOAL = 95
"""Per cent of the mutants that must be killed, without the equivalent ones."""
LEFT_OUT = re.compile(
    r"ComparisonOperator_(?!Is_IsNot$|IsNot_Is$)(Is|IsNot|\w+_Is|\w+_IsNot)(_\w+)?$"
    r"|BinaryOperator_\w+_(LShift|Pow)$|Variable"
)
"""Operators left out.  Identity becomes its contrary only, as nothing else makes sense of types and
None, and nothing becomes identity, which equality implies for small numbers.  Shifts and powers of
nanoseconds would fill the memory."""
ORDER = re.compile(r"Comparison\w+_(Eq|NotEq)_[LG]tE?$")
"""Operators that make an order of equality: left out for literal words, which have none."""
TYPING = {"abstractmethod", "final", "overload", "override"}
LOGGING = re.compile(r"_?log(ger)?\.(debug|info|warning|error|exception)\(")


FORKS = """
import gc, importlib, os, sys
for name in "pytest hypothesis httpx msgspec msgpack numpy networkx pygments.lexers pytest_asyncio \
pytest_timeout xdist.plugin sqlalchemy.ext.asyncio websockets _hypothesis_pytestplugin".split():
    importlib.import_module(name)
import pytest
gc.freeze()
for line in sys.stdin:
    if (child := os.fork()) == 0:
        os.setsid()
        for number, path in enumerate((os.devnull, "output", "output")):
            extra = os.O_CREAT | os.O_TRUNC if number == 1 else 0
            os.dup2(os.open(path, os.O_RDWR | extra), number)
        code = pytest.main(line.split())
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    _, status, used = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, flush=True)
"""
"""A program that forks a process for each line, which runs pytest with the words of the line, and
prints its id, then its exit code and seconds."""


class RemoveStatement(operators.Operator):  # type: ignore[misc,unused-ignore]
    """Leaves out a call, an assignment to a field, a raise or an early return."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if node.type != "simple_stmt":
            return
        statement = node.children[0]
        if statement.type == "expr_stmt":
            first, second = statement.children[:2]
            leave = second.type == "operator" and (second.value != "=" or first.type == "atom_expr")
        else:
            leave = statement.type in {"atom_expr", "raise_stmt", "del_stmt"} or (
                statement.type == "keyword" and statement.value == "return"
            )
        if leave and enclosing(node).split(".")[-1] != "__init__":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        prefix = node.get_first_leaf().prefix
        node.children[0] = parso.python.tree.Name("pass", node.start_pos, prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


@dataclass(frozen=True)
class Mutant:
    operator: str
    occurrence: int
    where: str
    """Qualified name of the function or class."""
    rank: tuple[int, str]


def enclosing(node: Any) -> str:
    names = []
    while node := node.parent:
        if node.type in {"funcdef", "classdef"}:
            names.append(node.name.value)
    return ".".join(reversed(names))


def behaves(node: Any) -> bool:
    """Whether a change of a node can change behaviour: annotations, names of types, what only
    tools read, and the texts of log lines cannot."""
    if node.type == "decorator":
        return node.children[1].get_code().split(".")[-1] not in TYPING
    if node.type == "if_stmt" and "TYPE_CHECKING" in node.children[1].get_code():
        return False
    child = node
    while child is not None:
        parent = child.parent
        code = child.get_code().lstrip()
        if child.type == "expr_stmt" and re.match(r"__all__|__slots__|\w+: TypeAlias", code):
            return False
        if child.type in {"simple_stmt", "atom_expr"} and LOGGING.match(code):
            return False
        if parent is not None:
            if parent.type == "annassign" and child is parent.children[1]:
                return False
            if parent.type == "tfpdef" and child is not parent.children[0]:
                return False
            if parent.type == "funcdef" and child is parent.annotation:
                return False
            if parent.type == "arglist" and child is parent.children[0]:
                called = parent.parent.get_previous_sibling()
                if called is not None and called.get_code().strip() == "cast":
                    return False
        child = parent
    return True


def mutants(source: str, seed: int) -> list[Mutant]:
    """All mutants of a module, in the order of the draw."""
    found: list[tuple[tuple[str, str, int], str, int]] = []
    lines = source.splitlines()
    nodes = list(ast_nodes(get_ast(source)))
    for name in [*(name for name in operator_names() if not LEFT_OUT.search(name)), "remove"]:
        operator = operator_named(name)
        occurrence = -1
        for node in nodes:
            for (line, column), _ in operator.mutation_positions(node):
                occurrence += 1
                if behaves(node) and not (ORDER.search(name) and '"' in node.get_code()):
                    text = lines[line - 1]
                    inner = column - len(text) + len(text.lstrip())
                    found.append(((enclosing(node), text.strip(), inner), name, occurrence))

    def digest(*parts: object) -> str:
        return hashlib.sha256(repr((seed, *parts)).encode()).hexdigest()

    turns: Counter[tuple[tuple[str, str, int], str]] = Counter()
    drawn = []
    by_place: Counter[tuple[tuple[str, str, int], int]] = Counter()
    for place, name, occurrence in sorted(found, key=lambda each: digest(each[0], each[1])):
        turns[place, name] += 1  # a line that stands twice in a function is two places
        twin = 0 if name.endswith("NumberReplacer") else turns[place, name]
        by_place[place, twin] += 1
        rank = (by_place[place, twin], digest(place, twin))
        drawn.append(Mutant(name, occurrence, place[0], rank))
    return sorted(drawn, key=lambda mutant: mutant.rank)


def operator_named(name: str) -> Any:
    return RemoveStatement() if name == "remove" else get_operator(name)()


def changed(before: str, after: str) -> tuple[str, str]:
    """The lines that differ, without the space around them."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    was, becomes = (
        " ".join(" ".join(line[2:].split()) for line in lines if line.startswith(sign))
        for sign in ("- ", "+ ")
    )
    return was, becomes


def kill(leader: int) -> None:
    """Kill a process and all of its session's group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


class Copy:
    """A copy of the tree, so that an interruption leaves no mutant in the checkout.  It has no
    machine code, and its packages come before those of the installed checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.check_output(
            ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT
        )
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        if machine_code := [*folder.rglob("*.so"), *folder.rglob("*.pyd")]:
            raise SystemExit(f"{machine_code[0]} is machine code, and mutants are interpreted.")
        path = os.pathsep.join([str(folder / "tests/typing"), str(folder)])
        self.spent = 0.0
        """Processor seconds of the last run."""
        self.forks = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", FORKS],
            cwd=folder,
            env={**os.environ, "PLYHOUSE_PURE": "1", "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def passes(self, module: str, source: str, tests: list[str], seconds: float) -> bool:
        """Run a module's tests with another source of the module."""
        path = self.folder / module
        path.write_text(source, encoding="utf-8")
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
            stale.unlink()  # time and size may be those of the mutant before
        shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        asked, answers = self.forks.stdin, self.forks.stdout
        assert asked is not None
        assert answers is not None
        words = "-x -q -p no:cacheprovider --hypothesis-seed=0"
        words += " -W ignore::pytest.PytestAssertRewriteWarning"
        asked.write(" ".join([words, *tests]) + "\n")
        child = int(answers.readline())
        late = threading.Timer(seconds, kill, [child])
        late.start()
        try:
            code, spent = answers.readline().split()
            self.spent = float(spent)
            return code == "0"
        finally:
            late.cancel()
            kill(child)  # what it has left running
            path.write_text((ROOT / module).read_text(encoding="utf-8"), encoding="utf-8")
            for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
                stale.unlink()

    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")


def run(copy: Copy, module: str, entry: dict[str, Any], seed: int, sample: int | None) -> bool:
    """Try the mutants of a module; return whether the goal is reached."""
    source, tests = (ROOT / module).read_text(encoding="utf-8"), entry["tests"]
    known = {
        (each["in"], each["was"], becomes): each["reason"]
        for each in entry.get("equivalent", ())
        for becomes in ([each["becomes"]] if isinstance(each["becomes"], str) else each["becomes"])
    }
    unused = set(known)
    start = time.monotonic()
    if not copy.passes(module, source, tests, 600):
        raise SystemExit(f"The tests of {module} fail without a mutant:\n{copy.output()}")
    wall, spent = time.monotonic() - start, copy.spent
    if copy.passes(module, f"{source}\nraise RuntimeError\n", tests, 600):
        raise SystemExit(f"The tests of {module} do not import it from {copy.folder}.")
    tally: Counter[str] = Counter()
    seen = {ast.dump(ast.parse(source))}
    for mutant in mutants(source, seed):
        if sample is not None and tally.total() >= sample:
            break
        text = mutate_code(source, operator_named(mutant.operator), mutant.occurrence)
        try:
            tree = ast.dump(ast.parse(text))
        except SyntaxError:
            continue
        if tree in seen:
            continue
        seen.add(tree)
        key = (mutant.where, *changed(source, text))
        unused.discard(key)
        if key in known:
            tally["equivalent"] += 1
        elif copy.passes(module, text, tests, 10 + 4 * wall):
            tally["survived"] += 1
            lines = difflib.unified_diff(source.splitlines(), text.splitlines(), lineterm="", n=2)
            print(f"SURVIVED {mutant.operator} in {mutant.where}", *list(lines)[2:], sep="\n")
            print(f"in = {mutant.where!r}\nwas = {key[1]!r}\nbecomes = {key[2]!r}\n", flush=True)
        else:
            tally["killed"] += 1
    if sample is None and unused:
        raise SystemExit(f"Equivalent mutants of {module} that no longer exist: {sorted(unused)}")
    killed, survived = tally["killed"], tally["survived"]
    score = 100 * killed / max(1, killed + survived)
    print(
        f"{module}: {tally.total()} mutants, {killed} killed, {survived} survived, "
        f"{tally['equivalent']} equivalent: {score:.1f} %; its tests take {spent:.1f} s",
        flush=True,
    )
    return score >= GOAL


def main() -> None:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Mutation testing of modules in mutants.toml.")
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="path of a module; default: all"
    )
    parser.add_argument("--sample", type=int, default=30, help="number of mutants of each module")
    parser.add_argument("--all", action="store_true", help="try all mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    options = parser.parse_args()
    if unknown := [module for module in options.modules if module not in table]:
        parser.error(f"{unknown[0]!r} is not in mutants.toml, which has {', '.join(table)}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        sample = None if options.all else options.sample
        reached = [
            run(copy, module, table[module], options.seed, sample)
            for module in options.modules or table
        ]
    sys.exit(0 if all(reached) else f"Fewer than {GOAL} % of the mutants of a module were killed.")


if __name__ == "__main__":
    main()
