"""The pure core of the server: one match, its clock, chance and views."""
