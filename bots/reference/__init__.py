"""Bots of the house: short, complete examples, each run by its name (`plyhouse bot run random`)."""
