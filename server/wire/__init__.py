"""How frames travel between clients and the house."""
