"""Connections: logins, requests, and the hub that passes them to the other packages."""
