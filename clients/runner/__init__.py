"""The runner: a machine that hosts submitted bots (`plyhouse runner`).

machine         the plan of the server, and the bots and checks that carry it out
packages        packages, fetched by digest and built once
checking        checks of submissions in a process of their own (``plyhouse check --sandbox``)
news            reports, kept until the server has taken them
outbox          output of bots, kept until the server has taken it
private_folder  the folder whose path no bot knows
runner_log      the log file, rotated
"""
