"""Connections: logins, requests, and the hub that constructs the other packages.

hub       constructs the packages, and passes frames and events between them
logins    a connection from ``hello`` to ``welcome``
requests  all requests except actions
"""
