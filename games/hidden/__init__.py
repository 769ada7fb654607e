"""Games of imperfect information: cards, hidden boards, and simultaneous choices."""
