"""Servers of turn-based games beside Plyhouse: ``python -m benchmarks.peers``."""
