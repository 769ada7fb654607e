"""Perfect knowledge: what is worked out once, kept in a table, and looked up."""
