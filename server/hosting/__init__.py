"""Bots on runner machines: submissions, checks, runners, and which runner hosts which bot."""
