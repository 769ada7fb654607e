"""Generators of pages in ``docs/``; run one with ``python -m``.

command_reference   docs/commands.md
game_pages          docs/games
fairness_page       the generated parts of docs/fairness.md
"""
