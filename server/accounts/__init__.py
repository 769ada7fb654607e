"""People and accounts: registration, sign-in, guests, roles, visibility.

registration      tokens, names of players, new accounts
passwords         passwords, hashed in a few threads of low priority
guesses           limits of wrong passwords
browser_sessions  sessions of signed-in players and of guests; names of guests; the cookie of a
                  session, and the check of a page's origin
roles             roles of the staff of competitions, the actions of each, and refusals
privacy           who sees the matches and bots of a competition
tickets           secret tokens by which runners log in hosted bots
builtin_bots      the built-in bots that people play against
"""
