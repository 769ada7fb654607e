"""Work for helper processes: reviews, search trees, and a fair queue."""
