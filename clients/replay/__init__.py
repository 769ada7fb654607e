"""Recorded matches as positions, and as a page of HTML that needs no server.

record_files      reads files of records; finished matches from files or a database, for what learns
                  from them
positions         the positions of a record, as one viewer may see them, also as one page of HTML
"""
