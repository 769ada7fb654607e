"""Background work: timers, and helper processes for reviews and search trees.

periodic          work that is repeated until the server stops
fair_queue        long work, one piece at a time, fair among visitors
helper_jobs       answers that a program computes and the server keeps in files
helper_processes  functions in processes of lower priority than the clocks
reviews           reviews of finished matches
search_trees      search trees of positions
"""
