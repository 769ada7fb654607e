"""The client side of protocol v1: stays connected, over anything that moves frames.

client       a connection that is made again when it is lost: `Client`
channel      the transport: websockets, or frames in memory
backoff      how long to wait before connecting again
timing       the clock that client and runner go by
"""
