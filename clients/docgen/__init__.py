"""Generators of pages in ``docs/``; run one with ``python -m``.

command_reference   docs/commands.md
game_pages          docs/games; section of docs/games/monopoly.md
fairness_tables     tables of docs/chance.md, docs/record.md and docs/endings.md
"""
