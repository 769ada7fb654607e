"""Connections: logins, requests, and the hub that passes them on."""
