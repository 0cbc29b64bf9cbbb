"""The seccomp filter of the sandbox: it refuses the few system calls that namespaces do not isolate."""

from __future__ import annotations

import errno
import functools
import os
import socket
import struct
from typing import NamedTuple


class _Machine(NamedTuple):
    """System call numbers of Linux on one architecture."""

    audit: int
    socket: int
    shmget: int
    memfd_create: int
    refused: tuple[int, ...]
    """``add_key``, ``request_key``, ``keyctl``: the session keyring would keep data after the system has ended."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 41, 29, 319, (248, 249, 250)),
    "aarch64": _Machine(0xC00000B7, 198, 194, 279, (217, 218, 219)),
}

_IO_URING_SETUP = 425
"""``io_uring`` makes other system calls without passing the filter."""

_X32 = 0x40000000
"""The bit of a second set of numbers for the same calls."""

_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)
"""Socket families that namespaces isolate; the last is ``AF_NETLINK``. ``AF_VSOCK`` could reach the host machine."""

_SHARED_BYTES = 1 << 20
"""The largest System V shared memory segment: it belongs to no process, so no limit counts it."""

_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


@functools.cache
def call_filter() -> bytes | None:
    """Return the filter as bytes for the kernel; ``None`` on an unknown architecture.

    A refused call fails as on a kernel without it, which programs can handle. ``memfd_create`` is refused too, because
    no limit counts its memory.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return None
    absent = (_RETURN, 0, 0, _FAIL | errno.ENOSYS)
    allowed = (_RETURN, 0, 0, _ALLOW)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine.audit), absent]
    steps += [(_LOAD, 0, 0, 0)]
    if machine.audit == _MACHINES["x86_64"].audit:
        steps += [(_AT_LEAST, 0, 1, _X32), absent]
    for number in (*machine.refused, machine.memfd_create, _IO_URING_SETUP):
        steps += [(_EQUAL, 0, 1, number), absent]
    steps += [(_EQUAL, 0, 2 + 2 * len(_FAMILIES), machine.socket), (_LOAD, 0, 0, 16)]
    for family in _FAMILIES:
        steps += [(_EQUAL, 0, 1, int(family)), allowed]
    steps += [(_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT)]
    steps += [(_EQUAL, 0, 5, machine.shmget), (_LOAD, 0, 0, 28), (_EQUAL, 0, 2, 0)]
    steps += [(_LOAD, 0, 0, 24), (_ABOVE, 0, 1, _SHARED_BYTES), (_RETURN, 0, 0, _FAIL | errno.ENOSPC), allowed]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
