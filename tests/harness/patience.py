"""How long tests wait for what must happen."""

PATIENCE = 120.0
"""Seconds after which something hangs. It is long as other programs may keep the machine busy."""
