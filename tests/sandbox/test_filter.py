"""The filter of system calls, run here by an interpreter of its instructions."""

from __future__ import annotations

import struct

import pytest

from plyhouse.bots.sandbox.seccomp import ARCHITECTURES, filter_program
from plyhouse.bots.sandbox.syscalls import ABSENT, NEWEST, PLAIN, RULED

ALLOWED = 0x7FFF0000
REFUSED = 0x00050001  # EPERM
NOT_THERE = 0x00050026  # ENOSYS
KILLED = 0x80000000
OWN = 4711


def verdict(machine: str, number: int, *arguments: int, programs: bool = False) -> int:
    """Return what the kernel would do with a call."""
    _, audit = ARCHITECTURES[machine]
    return run(filter_program(machine, OWN, programs=programs), number, audit, *arguments)


def run(program: bytes, number: int, audit: int, *arguments: int) -> int:
    data = struct.pack("=iIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        code, yes, no, k = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, k)
            case 0x54:
                value &= k
            case 0x15:
                at += yes if value == k else no
            case 0x25:
                at += yes if value > k else no
            case 0x06:
                return int(k)
            case _:
                raise AssertionError(f"an instruction that is not used: {code:#x}")


def number(name: str, machine: str = "x86_64") -> int:
    found = (PLAIN | RULED | ABSENT)[name][ARCHITECTURES[machine][0]]
    assert found is not None
    return found


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_what_is_listed_is_allowed_and_the_rest_is_not(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    allowed = {numbers[column] for numbers in PLAIN.values()}
    absent = {numbers[column] for numbers in ABSENT.values()}
    ruled = {numbers[column] for numbers in RULED.values()}
    assert not allowed & absent
    assert not allowed & ruled
    for each in range(NEWEST + 1):
        if each not in ruled:
            expected = ALLOWED if each in allowed else NOT_THERE if each in absent else REFUSED
            assert verdict(machine, each) == expected, each
    assert verdict(machine, NEWEST + 1) == NOT_THERE
    assert verdict(machine, 0x40000000) == NOT_THERE  # x32


def test_calls_by_the_table_of_another_architecture_end_the_program() -> None:
    program = filter_program("x86_64", OWN, programs=False)
    assert run(program, number("read"), 0x40000003) == KILLED  # 32 bits: int 0x80


def test_threads_may_be_made_and_nothing_else_of_the_kind() -> None:
    clone = number("clone")
    thread = 0x3D0F00
    assert verdict("x86_64", clone, thread) == ALLOWED
    assert verdict("x86_64", clone, 17) == REFUSED  # fork
    assert verdict("x86_64", clone, thread | 0x10000000) == REFUSED  # with a user namespace
    assert verdict("x86_64", number("clone3")) == NOT_THERE


def test_signals_reach_the_own_process_only() -> None:
    for name in ("kill", "tgkill"):
        assert verdict("x86_64", number(name), OWN, 10) == ALLOWED
        assert verdict("x86_64", number(name), OWN + 1, 10) == REFUSED
        assert verdict("x86_64", number(name), 2**32 - 1, 9) == REFUSED


def test_messages_are_sent_without_an_address_in_either_half() -> None:
    sendto = number("sendto")
    assert verdict("x86_64", sendto, 3, 4096, 10, 0, 0) == ALLOWED
    assert verdict("x86_64", sendto, 3, 4096, 10, 0, 0x1000) == REFUSED
    assert verdict("x86_64", sendto, 3, 4096, 10, 0, 0x7F0000000000) == REFUSED


def test_programs_are_started_only_where_the_bot_is_one() -> None:
    assert verdict("x86_64", number("execve"), programs=True) == ALLOWED
    assert verdict("x86_64", number("execve")) == REFUSED


def test_memory_is_shared_only_through_files() -> None:
    mmap = number("mmap")
    assert verdict("x86_64", mmap, 0, 4096, 3, 0x22) == ALLOWED
    assert verdict("x86_64", mmap, 0, 4096, 1, 0x01) == ALLOWED
    assert verdict("x86_64", mmap, 0, 4096, 3, 0x21) == REFUSED


def test_a_machine_that_is_not_known_is_named() -> None:
    with pytest.raises(ValueError, match="no table of system calls for riscv64; there are x86_64"):
        filter_program("riscv64", OWN, programs=False)


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", ["cachestat", "fadvise64", "mincore", "preadv2", "readahead"])
def test_calls_that_ask_about_the_page_cache_are_not_there(machine: str, name: str) -> None:
    assert verdict(machine, number(name, machine)) == NOT_THERE
