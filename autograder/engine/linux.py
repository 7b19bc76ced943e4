"""The few calls of Linux that Python has no name for."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25

_libc = ctypes.CDLL(None, use_errno=True)


def _failed() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def prctl(option: int, *values: int) -> None:
    """``prctl(2)``.

    Raises:
        OSError: it failed.
    """
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *arguments) < 0:
        raise _failed()


def syscall(number: int, *values: int) -> int:
    """Any system call by its number; what it returned, -1 where it failed."""
    return int(_libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, values)))


def mount_tmpfs(folder: str, size: int, files: int, user: int, group: int) -> None:
    """Mount an empty file system in memory that takes ``size`` bytes in ``files`` files.

    It belongs to ``user`` and ``group``, and nobody else sees into it.

    Raises:
        OSError: it failed.
    """
    options = f"size={size},nr_inodes={files},mode=700,uid={user},gid={group}"
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    if _libc.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode()) < 0:
        raise _failed()


def drop_capabilities() -> None:
    """Give up all capabilities, for good once no_new_privs is set.

    Raises:
        OSError: it failed.
    """
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # no right to; or no such capability
            break
    prctl(PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, (ctypes.c_uint32 * 6)()) < 0:
        raise _failed()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def load_filter(program: bytes) -> None:
    """Load a seccomp filter, which nothing takes off again.

    Raises:
        OSError: it failed.
    """
    struct = _Program(len(program) // 8, program)
    prctl(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(struct))


def collapse_memory() -> None:
    """Put this process's memory into huge pages, so that a fork copies few page tables.

    Does nothing where the kernel can't.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, mode, _, _, _, *name = line.split()
        if mode.startswith("rw") and name in ([], ["[heap]"]):
            start, end = (int(part, 16) for part in place.split("-"))
            for advice in (_MADV_HUGEPAGE, _MADV_COLLAPSE):
                _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), advice)
