"""How much Python there is, by package and kind of line, what is too long, and what is said twice.

    python -m benchmarks.weight [FOLDER]

FOLDER is a checkout, by default this one; give another one to compare with.  A line has one kind:
code, docstring, comment or blank.  A function counts from its first decorator to its last line.
A struct of the HTTP API is repeated by another one if they share four fifths of the fields of the
smaller and half of all; a field is copied where a call has ``name=other.name``.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PRODUCT = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")
LONG = 60
"""Lines of a function above which it is listed."""
SMALL = 120
"""Lines of a module below which it counts as small."""
ALIKE = 0.8
"""Part of the fields of the smaller of two structs that makes them repeat each other."""
FEWEST = 4
"""Fields of the smallest struct that is compared."""
STRUCTS = ("Struct", "Row", "NamedTuple")


def docstrings(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of docstrings, also of attributes."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield from range(child.lineno, (child.end_lineno or child.lineno) + 1)


def kinds(text: str) -> Counter[str]:
    """Count the lines of a module by kind."""
    described = set(docstrings(ast.parse(text)))
    found: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if number in described:
            found["docstring"] += 1
        elif not line.strip():
            found["blank"] += 1
        else:
            found["comment" if line.lstrip().startswith("#") else "code"] += 1
    return found


def functions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the length and name of each function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield (node.end_lineno or node.lineno) - first + 1, node.name


def structs(folder: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the name and fields of each struct, dataclass and named tuple below a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            marks = [ast.unparse(each) for each in (*node.decorator_list, *node.bases)]
            if any(mark in STRUCTS or "dataclass" in mark for mark in marks):
                yield (
                    f"{path.relative_to(folder.parent)}:{node.name}",
                    frozenset(
                        each.target.id
                        for each in node.body
                        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                    ),
                )


def repeated(root: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the pairs of a struct of the API and another one that repeats it."""
    api = list(structs(root / "protocol" / "api"))
    for package in ("storage", "server"):
        for other, theirs in structs(root / package):
            for name, fields in api:
                least = min(len(fields), len(theirs))
                shared = len(fields & theirs)
                if (
                    least >= FEWEST
                    and shared >= ALIKE * least
                    and 2 * shared >= len(fields | theirs)
                ):
                    yield shared, name, other


def copied(tree: ast.AST) -> int:
    """Count the fields that calls of a module copy under the same name."""
    return sum(
        isinstance(node, ast.keyword)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == node.arg
        for node in ast.walk(tree)
    )


def main(root: Path) -> None:
    """Print the tables."""
    print(
        f"{'package':<12}{'modules':>9}{'small':>7}{'lines':>9}{'code':>9}{'docstring':>11}", end=""
    )
    print(f"{'comment':>9}{'blank':>8}{f'functions over {LONG}':>20}")
    whole: Counter[str] = Counter()
    longest: list[tuple[int, str]] = []
    for package in (*PRODUCT, "tests", "benchmarks"):
        row: Counter[str] = Counter()
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            count = kinds(text)
            row += count
            row["modules"] += 1
            row["small"] += count.total() < SMALL and path.name != "__init__.py"
            long = [each for each in functions(ast.parse(text)) if each[0] > LONG]
            row["long"] += len(long)
            if package in PRODUCT:
                longest += [(size, f"{path.relative_to(root)}:{name}") for size, name in long]
        if row:
            show(package, row)
        if package in PRODUCT:
            whole += row
    show("product", whole)
    print("\nThe longest functions of the product:")
    for size, name in sorted(longest, reverse=True)[:10]:
        print(f"{size:>6}  {name}")
    pairs = sorted(repeated(root), reverse=True)
    for package in ("storage", "server"):
        mine = [each for each in pairs if each[2].startswith(f"{package}/")]
        names = {name for _, name, _ in mine}
        print(f"\n{len(names)} structs of the API are repeated by {package}:")
        for shared, name, other in mine:
            print(f"{shared:>6}  {name}  {other}")
    fields = sum(
        copied(ast.parse(path.read_text(encoding="utf-8")))
        for package in ("storage", "server", "clients")
        for path in (root / package).rglob("*.py")
    )
    print(f"\nFields that calls copy in storage, server and clients: {fields}")


def show(name: str, row: Counter[str]) -> None:
    """Print one line of the table."""
    lines = sum(row[kind] for kind in ("code", "docstring", "comment", "blank"))
    print(f"{name:<12}{row['modules']:>9}{row['small']:>7}{lines:>9,}{row['code']:>9,}", end="")
    print(f"{row['docstring']:>11,}{row['comment']:>9,}{row['blank']:>8,}{row['long']:>20}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
