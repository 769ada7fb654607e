"""Submitted bots, and the runner machines that run them.

uploads             uploads of bots, inspected without running their code; starts the program that
                    reads an uploaded package
check_queue         submissions that wait for their check; the games and time controls of a check;
                    pure
needed_bots         which bots must run now, and for which competition
placement           which machine runs which bot and makes which check; pure; pauses of a machine
                    after failures
runners             runner machines: their connections, tasks and tickets
hosted_play         matches between people and hosted bots
runner_reports      output and crashes of hosted bots; flag falls for which a busy machine may be
                    the reason
"""
