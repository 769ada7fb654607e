"""People and accounts: registration, sign-in, guests, roles, visibility."""
