"""Whether a bot is fit for rated matches.

examination    all that is looked at: `check_bot`
disturbed      the connection that misbehaves
opponent       the scripted opponents
"""
