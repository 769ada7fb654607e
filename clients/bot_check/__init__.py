"""Whether a bot is fit for rated matches.

The bot plays real matches, with the ordinary runner and referee:

    examination    all that is looked at: `check_bot`
    disturbed      the connection that misbehaves
    opponent       the scripted opponents
"""
