"""Check whether a bot is fit for rated matches, in real matches with the ordinary referee.

examination         runs all checks: `check_bot`
matches             plays the matches of a check; a connection that misbehaves; the opponents
time_controls       the time controls of a check
package_check       checks a package before it is sent
sandbox_check       checks a bot in the sandbox of a server
"""
