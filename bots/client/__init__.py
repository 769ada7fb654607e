"""The client side of protocol v1.

A client stays connected, over anything that moves frames:

    client       a connection that is made again when it is lost: `Client`
    channel      what it needs of a transport
    websocket    the transport across networks
    timing       the clock that client and runner go by; how long to wait before connecting again
"""
