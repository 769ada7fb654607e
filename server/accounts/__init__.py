"""People and accounts: registration, sign-in, guests, roles, visibility.

registration      tokens, names of players, new accounts
guest_names       names of guests
passwords         passwords, hashed in a few threads of low priority
browser_sessions  sessions of signed-in players and of guests
cookies           the cookie of a session, and the check of a page's origin
roles             roles in competitions, and refusals without the role
privacy           who sees the matches and bots of a competition
tickets           secret tokens by which runners log in hosted bots
builtin_bots      the built-in bots that people play against
"""
