"""The runner: a machine that hosts submitted bots (`plyhouse runner`).

machine            the plan of the server, and the bots and checks that carry it out
packages           packages, fetched by digest and built once; a folder whose path no bot knows;
                   the log file, rotated
submission_checks  checks of submissions in a separate process (``plyhouse bot check --sandbox``)
output_queue       output of bots, stored until the server has taken it; reports, stored until the
                   server has taken them
local              the runner that ``plyhouse serve --hosted`` starts
"""
