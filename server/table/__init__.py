"""Running matches: the holders of seats, clocks, and effects carried out in order."""
