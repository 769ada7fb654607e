"""The separate process in which a bot runs, and its supervision.

In the runner's process:

    supervisor        keeps a process alive and asks it for actions: `Supervisor`
    bot_process       one process from start to end
    launcher          starts it: as a child process, or in a sandbox
    ply_cost          CPU and wall time of a ply
    author_log        output for the bot's author, and the log file
    traceback_reader  the traceback of a bot that hung or died
    output_limits     limits on what a bot may send

In the bot's process:

    __main__          the program: loads the bot and serves it
    child             passes turns to the bot and actions to the runner, one by one
    async_turns       the same for async bots: all turns at the same time
    traceback_writer  writes a traceback on a signal or a crash
    tracker           the position, from the events that the seat may see; the position of a turn in
                      words

Between them:

    messages          the messages and their frames
"""
