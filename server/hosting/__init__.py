"""Bots that run on our machines: submissions, checks, runners, and which runner hosts which bot."""
