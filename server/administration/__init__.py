"""What operators do to a running server: bans, pauses, erasure, health."""
