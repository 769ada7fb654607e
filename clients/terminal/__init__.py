"""Draw and play matches in a terminal.

The package knows protocol v1 and the format of scenes, but no game:

    scene_layout      scenes in character cells
    board_drawing     boards of each kind; pieces: their contents; canvas: the cells
    view_options      options of the view; colours: of boards and seats
    action_choice     builds an action from selected spots
    followed_match    a match as one viewer follows it; the clocks of its seats; fetches positions
                      of a match from a server
    sentences         sentences for people
    line_reader       lines that a person types
    interfaces        protocols that a screen needs: connection, HTTP API, boards
    screens           the screens, with Textual
"""
