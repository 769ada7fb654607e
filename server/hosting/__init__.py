"""Bots on runner machines: submissions, checks, runners and their bots."""
