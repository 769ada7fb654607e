"""A small rehearsal of a competition, with bots that misbehave.

rehearsal          the run, from opening to export, through the API of a real server
participants       the bots that play, and the expected treatment of each
misbehaving_bots   the bots that misbehave
small_competition  scales a competition file down
outcome_check      checks that each bot was treated as expected
"""
