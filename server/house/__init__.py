"""Who is here and what is being played: the hub and the parts that it hands requests to."""
