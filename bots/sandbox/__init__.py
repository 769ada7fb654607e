"""The sandbox for other people's bots on our machine: what they cannot do, and what enforces it.

    box             a bot's box, its limits, and how it ended; the tiers; the processor of each box
    tiers           the tier that this machine supports, found by trying
    client          starts and stops boxes: `ForkServerClient`
    launcher        runs bots in boxes, in place of ordinary processes; a command in a box

Processes, from the outside to the inside:

    fork_server     a small program, single-threaded, from which boxes are forked
    box_supervisor  one process per box: watches it, and leaves nothing behind; the same behind
                    namespaces
    confine         from inside: a process gives up what a bot must not have, then becomes the bot

Their foundations:

    seccomp         the filter of system calls, as a program for the kernel
    syscalls        system calls by name
    kernel          functions of the kernel that Python lacks
    probes          attempts to break out, made inside of a box
    probe_runner    runs the probes, for `plyhouse doctor sandbox`
"""
