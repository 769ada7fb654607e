"""Tests of a whole server, over real sockets."""
