"""A program that holds the claim of a database."""

from __future__ import annotations

HOLD = """
import asyncio, sys
from plyhouse.storage.store import Store
async def main():
    store = await Store.open(sys.argv[1])
    await store.claim()
    print("claimed", flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
