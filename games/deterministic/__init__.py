"""Games of skill alone: everything is seen, nothing is rolled."""
