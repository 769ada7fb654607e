"""Background work: timers, and helper processes for reviews and search trees.

periodic          work that is repeated until the server stops
helper_jobs       answers that a program computes and the server keeps in files; reviews of finished
                  matches; search trees of positions
helper_processes  functions in processes of lower priority than the clocks
fair_queue        long work, few pieces at a time, and computing in threads: fair among visitors
"""
