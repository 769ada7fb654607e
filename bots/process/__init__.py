"""The bot's own process: started, fed, watched and replaced."""
