"""Drawing and playing in a terminal.

Knows protocol v1, and no game:

    draw      scenes as text
    prompt    lines that a person types, and what they mean
"""
