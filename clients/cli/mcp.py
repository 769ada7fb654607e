"""``plyhouse mcp``: let a language model on this machine play on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import Server, game_option, on_server
from plyhouse.protocol.parts import DEFAULT_HELP, HELP_LEVELS


@click.command()
@click.option(
    "--bot",
    default="agent",
    show_default=True,
    metavar="NAME",
    help="Name under which the model plays.",
)
@click.option(
    "--help-level",
    type=click.Choice(HELP_LEVELS),
    default=DEFAULT_HELP,
    show_default=True,
    help="Show the model the position only, the legal actions as well, or also the rules.",
)
@game_option(multiple=True, required=False)
@on_server
def mcp(bot: str, help_level: str, games: tuple[str, ...], server: Server) -> int:
    """Let a language model play on a server.

    Speaks the Model Context Protocol (MCP) on standard input and output, so that programs such as
    Claude Desktop or an editor can start it. It passes everything on to the server's /mcp, with the
    stored login. With --game, others may challenge the model, and it enters competitions of these
    games. docs/mcp-clients.md has configurations to copy. The server must be started with
    --mcp; this command needs the extra mcp: pip install 'plyhouse[mcp]'.
    """
    from plyhouse.protocol.api import calls

    key = server.need_token()
    server.ask(calls.session())  # says what is wrong with the address or the token
    try:
        asyncio.run(_pass_on(server.address, key, bot, help_level, games))
    except ImportError as error:
        raise CommandError(
            f"`plyhouse mcp` needs the extra mcp: pip install 'plyhouse[mcp]' ({error}).",
            EXIT_USAGE,
        ) from error
    except ExceptionGroup as group:
        raise CommandError(
            f"{server} does not serve language models: {_innermost(group)} Its operator can start "
            "it with --mcp.",
            EXIT_FAILED,
        ) from group
    return 0


async def _pass_on(
    server: str, token: str, bot: str, help_level: str, games: Sequence[str]
) -> None:
    """Answer the requests of standard input by those of the server."""
    from urllib.parse import urlencode

    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    from plyhouse.protocol.address import Address, proxy_for
    from plyhouse.server.version import server_version

    address = Address.read(server)
    proxy = proxy_for(address)
    web = httpx2.AsyncClient(
        headers={"authorization": f"Bearer {token}"},
        timeout=httpx2.Timeout(200.0, connect=10.0),
        proxy=None if proxy is None else proxy.full_url,
        trust_env=False,
    )
    query = urlencode({"bot": bot, "help": help_level, "games": ",".join(games)})
    transport = streamable_http_client(f"{address.base}/mcp?{query}", http_client=web)
    async with Client(transport) as there:

        def passed_on(
            work: Callable[[Any], Awaitable[Any]],
        ) -> Callable[[Any, Any], Awaitable[Any]]:
            async def handle(ctx: Any, params: Any) -> Any:
                return await work(params)

            return handle

        here: Server[Any] = Server(
            "plyhouse",
            version=server_version().removeprefix("plyhouse "),
            instructions=there.instructions,
            on_list_tools=passed_on(lambda params: there.list_tools()),
            on_call_tool=passed_on(lambda params: there.call_tool(params.name, params.arguments)),
            on_list_resources=passed_on(lambda params: there.list_resources()),
            on_list_resource_templates=passed_on(lambda params: there.list_resource_templates()),
            on_read_resource=passed_on(lambda params: there.read_resource(params.uri)),
        )
        async with stdio_server() as (incoming, outgoing):
            await here.run(incoming, outgoing, here.create_initialization_options())


def _innermost(group: BaseExceptionGroup[BaseException]) -> str:
    """Return the text of the first error of nested groups, as a sentence."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{str(error).rstrip('.')}."
