"""Work for helper processes: reviews, search trees, and the queue that shares them fairly."""
