"""People and their accounts: registration, sign-in, guests, roles, and who may see what."""
