"""nginx with a site of deploy/, its addresses replaced."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["NGINX", "nginx"]

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextlib.contextmanager
def nginx(site: Path, folder: Path, replaced: Mapping[str, str]) -> Iterator[None]:
    """Run nginx with a site for the time of the block, and check that it warns of nothing.

    Replaces texts of the site; each must be in it.
    """
    assert NGINX is not None
    text = site.read_text()
    for old, new in replaced.items():
        assert old in text, f"{site.name} does not say {old!r} any more"
        text = text.replace(old, new)
    text = re.sub(r"(?m)^ *listen \[::\].*\n", "", text)
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"{'user root;' if os.geteuid() == 0 else ''}\n"
        f"daemon off;\npid {folder / 'nginx.pid'};\nerror_log stderr warn;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{text}}}\n"
    )
    with subprocess.Popen(
        [NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.PIPE
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            _, said = process.communicate(timeout=100)
    # A server that a test has stopped is out of reach for nginx, which keeps long bodies in files.
    known = rb"upstream server temporarily disabled|is buffered to a temporary file"
    wrong = rb"\[(emerg|alert|crit|warn)\](?!.*(" + known + rb"))"
    assert not re.search(wrong, said), said.decode()
