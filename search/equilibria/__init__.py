"""Games of imperfect information: equilibria, best responses, and policies as tables."""
