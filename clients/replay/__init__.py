"""Recorded matches as positions, and as a page of HTML that needs no server."""
