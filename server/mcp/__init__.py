"""Language models at the table: the server's endpoint of the Model Context Protocol (MCP).

    agents     the connections of agents, each a client of protocol v1 in this process
    arguments  the arguments and answers of the tools
    tools      the tools: what an agent can ask and do
    endpoint   ``POST /mcp``: the tools and resources, by the official package ``mcp``

An agent is a bot like any other.  Its tools send the messages of protocol v1 over an in-memory
connection.  So it sees what the views show its seat, gets the same error codes, and meets the same
limits.  Tools that only read ask the HTTP API of this server with the agent's own token.

Only `plyhouse.server.mcp.endpoint` imports the package ``mcp``.
"""
