"""Administration of a running server: bans, pauses, erasure, health."""
