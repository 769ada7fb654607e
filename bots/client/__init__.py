"""The client side of protocol v1: stays connected, over any channel."""
