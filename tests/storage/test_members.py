"""Members of a cluster: whose leases end, and which one leads."""

from __future__ import annotations

import asyncio

import pytest
from tests.storage.cluster import VALID_MS, Cluster

from plyhouse.storage import leases, members, models

pytestmark = pytest.mark.postgresql

SOON_MS = 100_000
"""The rest of a lease that is about to expire, which no pause of the tests outlasts."""


async def test_members_are_listed_until_their_leases_end(cluster: Cluster) -> None:
    first, second, third = [await cluster.join() for _ in range(3)]
    await cluster.change(first, address="http://a:1", version="1.2")
    await cluster.end(third)
    one, two = await cluster.run(members.members)
    assert (one.epoch, one.address, one.version) == (first, "http://a:1", "1.2")
    assert (two.epoch, two.address, two.version) == (second, "", "")
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


async def test_silent_member_that_missed_its_renewal_need_not_expire(cluster: Cluster) -> None:
    own, silent, renewed, talking = [await cluster.join() for _ in range(4)]
    await cluster.change(silent, talking, expires_ms=leases.NOW_MS + SOON_MS)
    asked = [silent, renewed, own]
    assert await cluster.run_as(own, members.end_expired, own, asked, SOON_MS // 2) == []
    assert await cluster.run_as(own, members.end_expired, own, asked, 2 * SOON_MS) == [silent]
    assert await cluster.run_as(silent, members.members) is None, "the fence refuses it"
    assert not await cluster.ended(talking)


async def test_member_whose_own_lease_has_expired_ends_none(cluster: Cluster) -> None:
    own, other = [await cluster.join() for _ in range(2)]
    await cluster.expire(own, other)
    assert await cluster.run_as(own, members.end_expired, own) == []
    # The database was away.  This member is the first that comes back, and others may follow.
    assert await cluster.run(leases.renew, own, VALID_MS)
    assert await cluster.run_as(own, members.end_expired, own, grace_ms=VALID_MS) == []
    assert await cluster.run_as(own, members.end_expired, own, grace_ms=0) == [other]


async def test_nobody_ends_silent_members_after_an_outage_of_all(cluster: Cluster) -> None:
    """The database and NATS were away: all were silent, and all missed a renewal."""
    own, *others = [await cluster.join() for _ in range(3)]
    early = 2 * SOON_MS

    async def ended(grace_ms: int = members.GRACE_MS) -> list[int] | None:
        return await cluster.run_as(own, members.end_expired, own, others, early, grace_ms=grace_ms)

    await cluster.change(own, *others, expires_ms=leases.NOW_MS + SOON_MS)
    assert await ended() == []
    assert await cluster.run(leases.renew, own, VALID_MS, early)
    assert await ended(VALID_MS) == []
    await cluster.change(own, steady_ms=1)
    assert await ended() == others


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
    await cluster.expire(first)
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == first
    await cluster.end(first)
    assert await cluster.run_as(second, members.claim_role, "lobby", second) == second


async def test_role_of_a_deleted_lease_is_free(cluster: Cluster) -> None:
    own = await cluster.join()
    assert await cluster.run(members.claim_role, "lobby", own + 100) == 0, "it has no lease"
    assert await cluster.run(members.claim_role, "lobby", own) == own
    await cluster.run(lambda c: c.execute(models.leases.delete()))
    own = await cluster.join()
    assert await cluster.run(members.claim_role, "lobby", own) == own


@pytest.mark.parametrize("state", ["free", "ended"])
async def test_members_that_claim_a_role_together_agree_on_the_leader(
    cluster: Cluster, state: str
) -> None:
    everyone = [await cluster.join() for _ in range(8)]
    for number in range(15):
        role = f"role{number}"
        if state == "ended":
            last = await cluster.join()
            assert await cluster.run_as(last, members.claim_role, role, last) == last
            await cluster.end(last)
        found = await asyncio.gather(
            *(cluster.run_as(each, members.claim_role, role, each) for each in everyone)
        )
        assert len(set(found)) == 1, found
        assert found[0] in everyone
