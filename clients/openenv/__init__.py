"""Games as environments of OpenEnv, for those who train language models.

environment  one seat of a game, with bots in the other seats
application  the calls of OpenEnv over HTTP and websockets
"""
