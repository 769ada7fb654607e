"""Every address that a server answers GET at, found in its routes: nothing new is forgotten."""

from __future__ import annotations

import re
from collections.abc import Mapping

from litestar.routes import HTTPRoute

from plyhouse.server.web.application import create_api

__all__ = ["get_paths"]


def get_paths(values: Mapping[str, list[str]]) -> list[str]:
    """Return the paths of all GET routes; ``values`` has what to put in for each parameter.

    Raises KeyError for a parameter without values.
    """
    paths = []
    for route in create_api().routes:
        if not isinstance(route, HTTPRoute) or "GET" not in route.methods:
            continue
        made = [route.path_format]
        for name in re.findall(r"{(\w+)}", route.path_format):
            made = [each.replace(f"{{{name}}}", one) for each in made for one in values[name]]
        paths += made
    return sorted(paths)
