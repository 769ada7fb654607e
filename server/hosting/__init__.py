"""Submitted bots, and the runner machines that run them.

uploads             uploads of bots, inspected without running their code
package_inspection  starts the program that reads an uploaded package
check_queue         submissions that wait for their check
checked_games       the games and time controls of a check; pure
needed_bots         which bots must run now, and for which competition
placement           which machine runs which bot and makes which check; pure
runners             runner machines: their connections, tasks and tickets
runner_backoff      pauses of a machine after failures
hosted_play         matches between people and hosted bots
outputs             output and crashes of hosted bots
flag_reports        flag falls for which a busy machine may be the reason
"""
