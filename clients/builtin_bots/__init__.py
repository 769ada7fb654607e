"""Built-in bots for people to play against, started by ``plyhouse serve``, and bots of the demo.

launcher   starts and stops the process of the bots when people want to play
process    the program of that process
demo       weak bots for ``plyhouse demo``
"""
