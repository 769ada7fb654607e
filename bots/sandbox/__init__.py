"""Where bots of others run on our machine: what they cannot do, and who sees to it.

    box          what a bot is put into, its limits, and how it ended; the tiers
    tiers        which tier this machine has, by trying; which one to take
    client       a keeper of boxes, for programs of ours: `KeeperClient`

Processes, from the outside to the inside:

    keeper       a small program, single-threaded, from which boxes are forked
    warden       one process per box: watches it, and leaves nothing behind
    confine      from inside: a process gives up what a bot must not have, then becomes the bot
    bubblewrap   the same behind namespaces

and what they stand on:

    messages     what is said to the keeper
    seccomp      the filter of system calls, as a program for the kernel
    syscalls     system calls by name
    kernel       what of the kernel Python has no functions for
    promises     what a bot must not be able to do, tried from inside: `plyhouse doctor sandbox`
"""
