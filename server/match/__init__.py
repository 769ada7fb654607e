"""The pure core of the server: one match, its clock, its chance, and who may see what of it."""
