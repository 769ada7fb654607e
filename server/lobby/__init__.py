"""How opponents find each other outside of competitions: seeks, challenges, matchmaking."""
