"""A competition played on a small scale, with bots that misbehave.

rehearsal    the whole of it, from opening to export, through the API of a real server
cast         who plays, and what each is promised
impostors    the bots that misbehave
scaled       the competition file made small
judgement    whether each was treated as promised; pure
"""
