"""Administration of a running server: bans, pauses, erasure, health.

audit_follower  carries out the actions of organisers in the audit log
erasure         erases a person from the database and from memory
health          checks that the server can store matches
"""
