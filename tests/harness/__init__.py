"""Servers, clients, clocks, runners and commands that tests of several modules share.

Test modules import helpers from here or from a helper beside them, never from another test module.
"""
