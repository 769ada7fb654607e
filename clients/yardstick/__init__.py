"""Measure a bot on scales that others share.

elo_scale     a rating from matches against opponents of known ratings; pure
scales        the scale of each game
measuring     plays, asks and computes what a scale needs
"""
