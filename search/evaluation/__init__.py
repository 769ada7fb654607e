"""What a position seems to be worth: features, weights, and how to tune them."""
