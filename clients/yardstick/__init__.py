"""Measure a bot on scales that others share.

scales        the scale of each game
equilibrium   bots in small games of hidden information, by matches and best responses
measuring     plays, asks and computes what a scale needs; a rating from matches against opponents
              of known ratings; pure
"""
