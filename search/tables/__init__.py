"""Tables that are computed once, stored in a file, and looked up.

retrograde                  perfect play without chance, backwards from all ends; its vectorised
                            loop, shared with the checkers endgames
positions                   all positions of a game, and the place of each in a table
checkers_endgames           endgames of checkers, by the number of pieces
value_iteration             perfect play with chance
pig_solution                pig, solved by the same idea
endgame_table               what tables of endgames have in common
table_file                  the file format of all of them
"""

if __name__ != "plyhouse.search.tables":
    raise ImportError("import plyhouse.search, not search")
