"""Transport of frames between clients and the hub.

session            one connection: frames in, requests to the hub, messages out
transport          the interface between a session and what carries its frames
websocket          the ASGI endpoint ``/ws``
direct             a direct path from socket to session, inside uvicorn; round trip times as the
                   kernel measures them
memory             connections without a network, for the local arena and tests
frames             websocket frames, parsed in linear time; pure
listener           accepts sockets, and limits the rate of each address
http               closes slow HTTP connections
limits             limits on sockets and sessions; token buckets by address, account or pair
"""
