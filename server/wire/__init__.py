"""Transport of frames between clients and the hub."""
