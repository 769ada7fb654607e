"""Members of a cluster: whose leases end, and which one leads."""

from __future__ import annotations

import asyncio

import pytest
from tests.storage.cluster import VALID_MS, Cluster

from plyhouse.storage import leases, members, models

pytestmark = pytest.mark.postgresql


async def test_members_are_listed_until_their_leases_end(cluster: Cluster) -> None:
    first, second, third = [await cluster.join() for _ in range(3)]
    await cluster.change(first, address="http://a:1", version="1.2")
    await cluster.run(members.set_draining, second)
    await cluster.end(third)
    one, two = await cluster.run(members.members)
    assert (one.epoch, one.address, one.version, one.draining) == (
        first,
        "http://a:1",
        "1.2",
        False,
    )
    assert (two.epoch, two.address, two.version, two.draining) == (second, "", "", True)
    assert 0 < one.expires_in_ms <= VALID_MS
    await cluster.expire(first)
    assert (await cluster.run(members.members))[0].expires_in_ms < 0


async def test_single_server_is_no_member(cluster: Cluster) -> None:
    await cluster.join(shared=False)
    assert await cluster.run(members.members) == []


async def test_expired_leases_of_other_members_end(cluster: Cluster) -> None:
    own, expired, valid = [await cluster.join() for _ in range(3)]
    await cluster.expire(expired)
    assert await cluster.run_as(own, members.end_expired, own) == [expired]
    assert await cluster.run_as(own, members.end_expired, own) == []
    assert await cluster.run_as(expired, members.members) is None, "the fence refuses it"
    assert not await cluster.ended(valid)
    assert not await cluster.run(leases.renew, expired, VALID_MS)


async def test_member_whose_own_lease_has_expired_ends_none(cluster: Cluster) -> None:
    own, other = [await cluster.join() for _ in range(2)]
    await cluster.expire(own, other)
    assert await cluster.run_as(own, members.end_expired, own) == []
    # The database was away.  This member is the first that comes back, and others may follow.
    assert await cluster.run(leases.renew, own, VALID_MS)
    assert await cluster.run_as(own, members.end_expired, own, VALID_MS) == []
    assert await cluster.run_as(own, members.end_expired, own, 0) == [other]


async def test_member_in_a_transaction_delays_the_end_of_its_lease_only(cluster: Cluster) -> None:
    own, writing, stopped = [await cluster.join() for _ in range(3)]
    await cluster.expire(writing, stopped)
    async with cluster.fenced(writing) as connection:
        assert connection is not None
        assert await cluster.run_as(own, members.end_expired, own) == [stopped]
    assert await cluster.run_as(own, members.end_expired, own) == [writing]


async def test_free_role_has_one_leader(cluster: Cluster) -> None:
    first, second = [await cluster.join() for _ in range(2)]
    assert await cluster.run_as(first, members.claim_role, "lobby", first) == first
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == first
    assert await cluster.run_as(second, members.claim_role, "hosting", second) == second
    assert await cluster.run_as(first, members.holds_role, "lobby", first)
    assert not await cluster.run_as(second, members.holds_role, "lobby", second)
    await cluster.expire(first)
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == first
    await cluster.end(first)
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == second
    assert await cluster.run_as(second, members.holds_role, "lobby", second)


async def test_role_of_a_deleted_lease_is_free(cluster: Cluster) -> None:
    own = await cluster.join()
    assert await cluster.run(members.claim_role, "lobby", own + 100) == 0, "it has no lease"
    assert await cluster.run(members.claim_role, "lobby", own) == own
    await cluster.run(lambda c: c.execute(models.leases.delete()))
    own = await cluster.join()
    assert await cluster.run(members.claim_role, "lobby", own) == own


async def test_draining_leader_is_replaced_and_takes_no_role_back(cluster: Cluster) -> None:
    first, second, third = [await cluster.join() for _ in range(3)]
    assert await cluster.run_as(first, members.claim_role, "lobby", first) == first
    await cluster.run_as(first, members.set_draining, first)
    assert await cluster.run_as(first, members.claim_role, "lobby", first) == first
    assert await cluster.run_as(first, members.claim_role, "hosting", first) == 0
    await cluster.run_as(third, members.set_draining, third)
    assert await cluster.run_as(third, members.claim_role, "lobby", third) == first
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == second
    assert await cluster.run_as(first, members.claim_role, "lobby", first) == second


async def test_role_is_not_taken_while_its_leader_writes(cluster: Cluster) -> None:
    first, second = [await cluster.join() for _ in range(2)]
    assert await cluster.run_as(first, members.claim_role, "lobby", first) == first
    async with cluster.fenced(first) as connection:
        assert connection is not None
        assert await connection.run_sync(members.holds_role, "lobby", first)
        await cluster.run(members.set_draining, first)
        taking = asyncio.create_task(cluster.run_as(second, members.claim_role, "lobby", second))
        await cluster.until_one_waits()
        assert not taking.done()
    assert await taking == second
    assert not await cluster.run_as(first, members.holds_role, "lobby", first)


@pytest.mark.parametrize("state", ["free", "ended", "draining"])
async def test_members_that_claim_a_role_together_agree_on_the_leader(
    cluster: Cluster, state: str
) -> None:
    everyone = [await cluster.join() for _ in range(8)]
    for number in range(15):
        role = f"role{number}"
        if state != "free":
            last = await cluster.join()
            assert await cluster.run_as(last, members.claim_role, role, last) == last
            if state == "ended":
                await cluster.end(last)
            else:
                await cluster.run(members.set_draining, last)
        found = await asyncio.gather(
            *(cluster.run_as(each, members.claim_role, role, each) for each in everyone)
        )
        assert len(set(found)) == 1, found
        assert found[0] in everyone
