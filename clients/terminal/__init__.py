"""Drawing and playing in a terminal.

Knows protocol v1, and no game:

    draw      scenes as lines of text
    prompt    lines that a person types, and what they mean
    picture   scenes in character cells: boards as large as the room allows
    boards    boards by their looks; figures: what stands on them; canvas: the cells
    look      what is shown and how; colours: of boards and seats
    choice    what choosing spot after spot means
    course    a match as one viewer follows it; clocks: what each seat has left
    words     sentences for people
    line      what the screens need of the world
    screens   the screens, with Textual
"""
