"""The plyhouse command."""
