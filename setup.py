"""Packages live in the repository root and are imported as ``plyhouse.<folder>``; the hot
modules of games/, search/ and server/ are compiled by mypyc where that is possible, all or none.

PLYHOUSE_COMPILE=0 builds without compiling, =1 makes a failure to compile fatal; otherwise
a failure is announced, noted in search/_build.json (`plyhouse doctor` shows it), and the
pure modules are installed.  Compiling happens in a tree of copies under build/native, as
mypyc must see the modules by their full names.  PLYHOUSE_NATIVE=FOLDER names the
build/native of another tree, whose machine code is taken if its sources, interpreter
and compiler settings are the same.  MYPYC_OPT_LEVEL=0 compiles in a third of the time, to slower
machine code.
"""

# mypy: disable-error-code="import-untyped, misc"
# (setuptools ships no types, so that its classes are Any to base ours on)
from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import Command, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

ROOT = Path(__file__).resolve().parent
TOP = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")

NATIVE = ROOT / "build" / "native"
COMPILED = (
    "games/bits.py",
    "games/boards.py",
    "games/counting.py",
    "games/endgames.py",
    "games/native.py",
    "games/playing_cards.py",
    "games/position.py",
    "games/deterministic/**/*.py",
    "games/hidden/**/*.py",
    "games/stochastic/**/*.py",
    "search/kernels/*.py",
    "server/match/clock.py",
    "server/match/engine.py",
)
"""Modules to compile: games and their helpers, the kernels, and the engine of matches."""
INTERPRETED = ("__init__.py", "drawing.py", "node_state.py", "notation.py", "views.py")
"""Names of modules among them that stay interpreted: what draws and writes positions, which
searches and playouts do not do, and `NODE_STATE`, which the build replaces."""
NODE_STATE = "plyhouse.search.kernels.node_state"
NATIVE_IMPORT = "from plyhouse.games.native import NativeState as NodeState"
"""Replaces the import of `NODE_STATE` in a kernel's typed copy; see search/kernels/__init__.py."""
MYPY_CONFIG = """\
[mypy]
mypy_path = .
namespace_packages = true
explicit_package_bases = true
no_site_packages = true
follow_imports = silent
ignore_missing_imports = true
"""
NATIVE_SETUP = """\
import os
import sysconfig
from collections import Counter

from mypyc.build import mypycify
from setuptools import setup

modules = mypycify(
    ["--config-file=mypy.ini", *open("modules.txt").read().split()],
    opt_level=os.environ.get("MYPYC_OPT_LEVEL", "1"),
    debug_level="0",
    separate={groups!r},
    target_dir="c",
    include_runtime_files=False,
)
if os.name != "nt":
    # Calls within a library then go straight to their function: a quarter faster.
    for module in modules:
        if "-fno-semantic-interposition" not in module.extra_compile_args:  # modules share a list
            module.extra_compile_args.append("-fno-semantic-interposition")

# mypyc's runtime is compiled once, not into each library again.
uses = Counter(source for module in modules for source in module.sources)
library = next(module for module in modules if uses[module.sources[-1]] > 1)
runtime = dict(
    sources=[source for source in library.sources if uses[source] > 1],
    include_dirs=[*library.include_dirs, sysconfig.get_path("include")],
    cflags=[*library.extra_compile_args, *([] if os.name == "nt" else ["-fvisibility=hidden"])],
)
for module in modules:
    module.sources = [source for source in module.sources if uses[source] == 1]

setup(
    name="plyhouse-native",
    packages=[],
    libraries=[("runtime", runtime)],
    ext_modules=modules,
    script_args=[
        *("build_clib", "--build-clib=o", "--build-temp=o"),
        *("build_ext", "--build-lib=lib", "--build-temp=o", "--parallel=2"),
    ],
)
"""


def packages() -> dict[str, str]:
    """Map every package to its folder: ``plyhouse.games`` to ``games`` and so on.

    ``plyhouse`` itself is a namespace package that holds only the module of `python -m plyhouse`.
    """
    found: dict[str, str] = {"plyhouse": "clients/program"}
    for top in TOP:
        for init in sorted((ROOT / top).rglob("__init__.py")):
            folder = init.parent.relative_to(ROOT)
            found["plyhouse." + ".".join(folder.parts)] = folder.as_posix()
    return found


def sources() -> list[Path]:
    """The modules to compile, relative to the root."""
    found = {path.relative_to(ROOT) for pattern in COMPILED for path in ROOT.glob(pattern)}
    return sorted(path for path in found if path.name not in INTERPRETED)


def groups(modules: list[str]) -> list[tuple[list[str], str]]:
    """Return the modules (paths) and the name of each shared library.

    Each kernel has one, with its typed copy, and each game, with the modules of its folder; the
    modules of the server share one.  Separate libraries compile in parallel, and only those that
    change.  Calls between libraries, such as those of the kernels into games, go through methods
    of `NativeState` or one more pointer.
    """
    found: dict[str, list[str]] = {}
    for module in modules:
        # plyhouse, games, stochastic, pig, rules; plyhouse, search, kernels, star_native
        _, package, *within = Path(module).with_suffix("").parts
        if package == "server":
            name = f"plyhouse.{package}._native"
        else:
            subject = within[0] if len(within) == 1 else within[1]
            name = f"plyhouse.{package}._native_{subject.removesuffix('_native')}"
        found.setdefault(name, []).append(module)
    # The largest first: the build would otherwise end by waiting for one that was begun last.
    ordered = sorted(found.items(), key=lambda each: -len(each[1]))
    return [(paths, name) for name, paths in ordered]


def imports_node_state(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether this imports `NODE_STATE` or a name from it, in any form."""
    names = {alias.name for alias in node.names}
    if isinstance(node, ast.Import):
        return NODE_STATE in names
    package, _, module = NODE_STATE.rpartition(".")
    return node.module == NODE_STATE or (node.module == package and module in names)


def typed_copy(name: str, text: str) -> str | None:
    """Return the text of a kernel's typed copy, on the same lines; None if it needs none.

    Raises `SetupError` for a kernel that imports its node type from `NODE_STATE` in another form.
    It would get no typed copy, and its searches would run much slower.
    """
    found = [
        node
        for node in ast.walk(ast.parse(text, name))
        if isinstance(node, ast.Import | ast.ImportFrom) and imports_node_state(node)
    ]
    if not found:
        return None
    wanted = f"from {NODE_STATE} import NodeState"
    if [ast.unparse(node) for node in found] != [wanted] or found[0].col_offset != 0:
        lines = ", ".join(str(node.lineno) for node in found)
        raise SetupError(f"{name}, line {lines}: to get a typed copy, write once: {wanted}")
    first, last = found[0].lineno, found[0].end_lineno or found[0].lineno
    lines_of = text.split("\n")
    lines_of[first - 1 : last] = [NATIVE_IMPORT] + [""] * (last - first)
    return "\n".join(lines_of)


def with_imports(modules: list[Path]) -> list[Path]:
    """These modules and all of ours that they import, directly or not; relative to the root."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = waiting.pop()
        if path in found or not (ROOT / path).is_file():
            continue
        found.add(path)
        waiting += [folder / "__init__.py" for folder in path.parents]
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"), str(path))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name.startswith("plyhouse."):
                    module = Path(*name.split(".")[1:])
                    waiting += [module.with_suffix(".py"), module / "__init__.py"]
    return sorted(found)


def write_tree() -> None:
    """Copy the modules to compile, and those they import, to build/native by their full names.

    The typed copies of kernels are added.
    """
    tree: dict[str, str] = {}
    modules = []
    for path in with_imports([*sources(), Path("search/kernels/node_state.py")]):
        tree[f"plyhouse/{path.as_posix()}"] = (ROOT / path).read_text(encoding="utf-8")
    for source in sources():
        name = f"plyhouse/{source.as_posix()}"
        modules.append(name)
        if (typed := typed_copy(source.as_posix(), tree[name])) is not None:
            modules.append(name.removesuffix(".py") + "_native.py")
            tree[modules[-1]] = typed
    tree["modules.txt"] = "\n".join(modules)
    tree["mypy.ini"] = MYPY_CONFIG
    tree["setup.py"] = NATIVE_SETUP.format(groups=groups(modules))
    for old in NATIVE.joinpath("plyhouse").rglob("*.py"):
        if old.relative_to(NATIVE).as_posix() not in tree:
            old.unlink()
    for name, text in tree.items():
        # Unchanged files keep their times, because mypyc compiles newer files again.
        copy = NATIVE / name
        if not copy.is_file() or copy.read_text(encoding="utf-8") != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")


def tree_digest() -> str:
    """Return one hash of everything that the machine code in build/native/lib depends on."""
    digest = hashlib.sha256()
    settings = (os.environ.get(name, "") for name in ("CC", "MYPYC_OPT_LEVEL"))
    for fact in (sys.version, mypyc_version(), *settings):
        digest.update(fact.encode() + b"\0")
    for path in sorted([*NATIVE.joinpath("plyhouse").rglob("*.py"), *NATIVE.glob("*.*")]):
        if path.suffix in (".py", ".ini") or path.name == "modules.txt":
            digest.update(path.relative_to(NATIVE).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def mypyc_version() -> str:
    """Version of mypyc in the environment that builds; "" if it is missing."""
    try:
        return importlib.metadata.version("mypy")
    except importlib.metadata.PackageNotFoundError:
        return ""


def compile_all() -> str:
    """Compile into build/native/lib; return "" or, when that failed, the reason."""
    if platform.python_implementation() != "CPython":
        return f"mypyc compiles for CPython only, not for {platform.python_implementation()}"
    write_tree()
    stamp = NATIVE / "stamp.txt"
    wanted = tree_digest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return ""  # one installation asks several times, each time from a new process
    stamp.unlink(missing_ok=True)
    if take_over(wanted):
        stamp.write_text(wanted, encoding="utf-8")
        return ""
    if missing := missing_tool():
        return missing
    modules = NATIVE.joinpath("modules.txt").read_text(encoding="utf-8").split()
    # Libraries newer than their sources stay; those whose sources are gone must not be installed.
    known = {path.removesuffix(".py").replace("/", ".") for path in modules}
    known.update(name for _, name in groups(modules))
    for made in NATIVE.joinpath("lib").rglob("*.*"):
        name = ".".join(made.relative_to(NATIVE / "lib").with_name(made.name.split(".")[0]).parts)
        if name.removesuffix("__mypyc") not in known:
            made.unlink()
    # mypyc 2.4 loses facts about classes that it takes from its cache.  Without it the same C comes
    # out as before, and only libraries whose C has changed are compiled.
    shutil.rmtree(NATIVE / ".mypy_cache", ignore_errors=True)
    done = run_mypyc()
    NATIVE.joinpath("log.txt").write_text(done.stdout, encoding="utf-8")
    if done.returncode == 0:
        stamp.write_text(wanted, encoding="utf-8")
        return ""
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|No such file|No module", line)]
    return (telling or lines or ["the compiler said nothing"])[-1].rstrip(".")


def missing_tool() -> str:
    """Name the compiler or headers that compiling needs and the machine lacks; "" if none.

    Asking first saves the minute in which mypyc writes C sources that nothing can compile.
    """
    if os.name == "nt":
        return ""  # setuptools finds Microsoft's compiler without PATH
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return f"the C compiler {compiler} is not installed; on Debian and Ubuntu: apt install gcc"
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.is_file():
        return f"{header} is missing; on Debian and Ubuntu: apt install python3-dev"
    return ""


def take_over(wanted: str) -> bool:
    """Copy the machine code of the build that PLYHOUSE_NATIVE names, if its digest is `wanted`."""
    other = os.environ.get("PLYHOUSE_NATIVE", "").strip()
    if not other:
        return False
    theirs = Path(other)
    stamp = theirs / "stamp.txt"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        return False
    shutil.rmtree(NATIVE / "lib", ignore_errors=True)
    shutil.copytree(theirs / "lib", NATIVE / "lib")
    return True


def run_mypyc() -> subprocess.CompletedProcess[str]:
    """Compile in a separate process, because mypyc calls sys.exit and changes distutils settings.

    Names in its tracebacks are relative to the working directory.
    """
    return subprocess.run(
        [sys.executable, "setup.py"],
        cwd=NATIVE,
        env={**os.environ, **cached_compiler(os.environ)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def cached_compiler(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which ccache compiles, if it is installed and CC is not set.

    Paths below this folder count as relative, so that all copies of the tree share the cache.
    """
    if "CC" in environ or os.name == "nt" or shutil.which("ccache") is None:
        return {}
    compiler = sysconfig.get_config_var("CC") or "cc"
    return {"CC": f"ccache {compiler}", "CCACHE_BASEDIR": str(ROOT), **environ}


class Native:
    """Compiles at most once per build, when a command first asks."""

    extensions: list[Extension] | None = None
    reason = ""
    began = 0
    """When compiling began, in nanoseconds: later edits are not in the machine code."""
    digests: dict[str, str] = {}  # noqa: RUF012 - replaced, never changed

    @classmethod
    def prepare(cls, command: Command) -> None:
        """Compile unless that was done or declined, and set the distribution's extensions."""
        if cls.extensions is None:
            wish = os.environ.get("PLYHOUSE_COMPILE", "").strip()
            if wish not in ("", "0", "1"):
                raise SetupError(f"PLYHOUSE_COMPILE={wish!r}: expected 0, 1 or nothing")
            cls.began = time.time_ns()
            cls.digests = {
                path.as_posix(): hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
                for path in sources()
            }
            failure = "PLYHOUSE_COMPILE=0 was set for the build" if wish == "0" else compile_all()
            cls.extensions = [] if failure else cls.compiled()
            cls.reason = failure or (
                f"Compiled by mypyc for {platform.python_implementation()} "
                f"{platform.python_version()}"
            )
            if failure and wish == "1":
                log = NATIVE / "log.txt"
                detail = log.read_text(encoding="utf-8")[-4000:] if log.is_file() else ""
                raise SetupError(f"PLYHOUSE_COMPILE=1, but compiling failed: {failure}\n{detail}")
            if failure and wish != "0":
                cls.reason = f"Compiling failed at installation: {failure}"
                print(  # noqa: T201 - the person who installs is to see it
                    "*" * 72,
                    "Plyhouse could not be compiled and is installed as pure Python: everything",
                    f"works, searches are slower. The reason: {failure}",
                    "*" * 72,
                    sep="\n",
                    file=sys.stderr,
                    flush=True,
                )
        command.distribution.ext_modules = list(cls.extensions)

    @staticmethod
    def compiled() -> list[Extension]:
        """Return one extension per shared object that was made."""
        found = []
        for path in sorted((NATIVE / "lib").rglob("*.*")):
            folder = path.parent.relative_to(NATIVE / "lib")
            found.append(Extension(".".join([*folder.parts, path.name.split(".")[0]]), []))
        return found

    @classmethod
    def note(cls) -> dict[str, Any]:
        """Return the facts that `plyhouse.search.build_info` reads."""
        return {
            "compiled": bool(cls.extensions),
            "reason": cls.reason,
            "python": sys.implementation.cache_tag,
            "sources": cls.digests if cls.extensions else {},
        }


class Build(build):
    """Compiles first, so that setuptools knows whether there are extensions."""

    def run(self) -> None:
        """Compile, then run the commands that gather the result."""
        Native.prepare(self)
        super().run()


class BuildPy(build_py):
    """Adds the note; clears what an earlier build left."""

    def run(self) -> None:
        """Gather the sources."""
        Native.prepare(self)
        if self.editable_mode:
            # An earlier build's compiled modules would hide these sources.
            for top in TOP:
                for pattern in ("*.so", "*.pyd"):
                    for old in (ROOT / top).rglob(pattern):
                        old.unlink()
        else:
            shutil.rmtree(Path(self.build_lib, "plyhouse"), ignore_errors=True)
        super().run()
        folder = ROOT if self.editable_mode else Path(self.build_lib, "plyhouse")
        note = folder.joinpath("search", "_build.json")
        note.write_text(json.dumps(Native.note(), indent=1) + "\n", encoding="utf-8")
        os.utime(note, ns=(Native.began, Native.began))  # games/_build.py compares sources with it


class BuildExt(build_ext):
    """Copies the modules that `Native` compiled to their packages."""

    def finalize_options(self) -> None:
        """Learn which extensions there are before looking at them."""
        Native.prepare(self)
        super().finalize_options()

    def build_extension(self, ext: Extension) -> None:
        """Copy one compiled module."""
        name = self.get_ext_filename(ext.name)
        target = Path(self.build_lib, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(NATIVE / "lib" / name, target)

    def get_source_files(self) -> list[str]:
        """Return nothing: every build makes the C sources again, so an sdist has none."""
        return []


class BdistWheel(bdist_wheel):
    """Compiles before the wheel's tag is chosen: a platform's, or any."""

    def finalize_options(self) -> None:
        """Learn whether there are extensions."""
        Native.prepare(self)
        super().finalize_options()


if __name__ == "__main__":  # also under pip; tests import the parts
    PACKAGES = packages()
    setup(
        packages=list(PACKAGES),
        package_dir=PACKAGES,
        package_data={
            "": [
                "py.typed",
                "*.toml",
                "*.html",
                "*.css",
                "*.js",
                "*.d.ts",
                "*.svg",
                "*.webp",
                "*.mako",
                "*.bin",
            ]
        },
        cmdclass={
            "bdist_wheel": BdistWheel,
            "build": Build,
            "build_ext": BuildExt,
            "build_py": BuildPy,
        },
    )
