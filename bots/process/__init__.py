"""The bot's own process: started, fed, watched and replaced.

In the runner's process:

    supervisor    keeps a process alive and asks it for actions: `Supervisor`
    spawn         one process from its start to its end
    launching     how it is started: as a child of ours, or elsewhere in a sandbox
    ledger        what a ply cost of the processor
    author        what the bot's author is shown, and the log file
    position      the position of a turn, in words
    last_stand    where a bot stood when it hung or died

In the bot's process:

    __main__      the program: loads the bot and serves it
    child         turns for the bot, answers for the runner; one turn after the other
    at_once       the same for async bots: all turns at once
    asked         where it stands is told when it is asked
    tracker       the position, followed by what the seat is told

Between them:

    pipe          the messages and their frames
"""
