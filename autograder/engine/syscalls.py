"""The system calls that a notebook may make, and why; every other one fails with EPERM.

The filter lets through what Python, torch and matplotlib need to compute, to run threads and to
read and write files. Landlock decides which files; here stands what it does not look at.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import struct
import tempfile
import termios
from collections.abc import Iterable
from typing import NamedTuple

import pyseccomp
from pyseccomp import EQ, MASKED_EQ, Arg

_OWN_PID = 0x7A5C3E11
"""Stands in the filter for the process's own pid, which is known after the fork only."""

_CLONE_VM, _CLONE_FILES, _CLONE_THREAD, _CLONE_NAMESPACES = 0x100, 0x400, 0x10000, 0x7E020080
_CLOSE_RANGE_CLOEXEC = 4
_THREAD = _CLONE_VM | _CLONE_FILES | _CLONE_THREAD
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_NO_ADDRESS = 0
_O_TMPFILE = os.O_TMPFILE & ~os.O_DIRECTORY
_F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW = 36, 37, 38
_TCGETS, _FIONREAD, _FIOCLEX, _FIONCLEX, _FIONBIO = 0x5401, 0x541B, 0x5451, 0x5450, 0x5421


class Rule(NamedTuple):
    """Calls that are let through, where each argument compares so; any of several rules does."""

    calls: str
    arguments: tuple[Arg, ...] = ()


def _opens() -> list[Rule]:
    """``O_TRUNC`` needs a descriptor for writing: Landlock before Linux 6.2 let it pass without.

    With ``O_TMPFILE`` a file never has a name, and nobody sees how much disk it takes. The fourth
    access mode opens a file for neither reading nor writing, for which Landlock asks no right.
    """
    writes = (os.O_WRONLY, os.O_RDWR)
    wanted = (os.O_RDONLY, *writes, *(os.O_TRUNC | mode for mode in writes))
    mask = _O_TMPFILE | os.O_TRUNC | os.O_ACCMODE
    return [
        Rule(call, (Arg(place, MASKED_EQ, mask, flags),))
        for call, place in (("open", 1), ("openat", 2))
        for flags in wanted
    ]


ALLOWED: dict[str, list[Rule]] = {
    "what is open is read and written": [
        Rule("read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek"),
        Rule("sendfile copy_file_range close dup dup2 dup3 pipe pipe2"),
        Rule("poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait"),
        Rule("epoll_pwait epoll_pwait2 eventfd eventfd2"),
        # With CLOSE_RANGE_UNSHARE a thread gets descriptors that no limit counts.
        *(Rule("close_range", (Arg(2, EQ, flags),)) for flags in (0, _CLOSE_RANGE_CLOEXEC)),
    ],
    # Not flock and fadvise64, which work on installed files too, where others notice.
    "files, as far as Landlock lets them": [
        *_opens(),
        Rule("stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2"),
        Rule("readlink readlinkat getdents getdents64 getcwd chdir fchdir umask"),
        Rule("rename renameat renameat2 mkdir mkdirat rmdir unlink unlinkat symlink symlinkat"),
        Rule("ftruncate fsync fdatasync"),
        Rule("fallocate", (Arg(1, EQ, 0),)),  # beyond a file's end, no RLIMIT_FSIZE would hold
    ],
    # Not F_SETOWN and F_SETSIG, which send signals; not leases, seals, and larger pipes.
    "descriptors are copied, made non-blocking, and locked": [
        Rule("fcntl", (Arg(1, EQ, command),))
        for command in (
            *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD),
            *(fcntl.F_GETFL, fcntl.F_SETFL, fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW),
            *(_F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW),
        )
    ],
    # Not TIOCSTI, which types into a terminal, nor any device's own commands.
    "Python asks whether a file is a terminal, asyncio makes sockets non-blocking": [
        Rule("ioctl", (Arg(1, EQ, command),))
        for command in (_TCGETS, _FIONREAD, _FIOCLEX, _FIONCLEX, _FIONBIO, termios.TIOCGWINSZ)
    ],
    "memory; RLIMIT_AS bounds it": [
        Rule("mmap munmap mremap mprotect brk madvise msync"),
    ],
    # With descriptors of their own they would have more than the limit.
    "threads of this process, and no process": [
        Rule(
            "clone",
            (Arg(0, MASKED_EQ, _THREAD | _CLONE_NAMESPACES, _THREAD),),
        ),
        Rule("futex set_robust_list rseq set_tid_address sched_yield sched_getaffinity getcpu"),
        Rule("sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min"),
        Rule("membarrier exit exit_group restart_syscall wait4 waitid"),
        Rule("sched_setaffinity", (Arg(0, EQ, 0),)),  # OpenMP, for its own threads
        *(Rule("prctl", (Arg(0, EQ, what),)) for what in (_PR_SET_NAME, _PR_GET_NAME)),
    ],
    "signals to this process, and to no other": [
        Rule("kill tgkill", (Arg(0, EQ, _OWN_PID),)),
        Rule("rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait"),
        Rule("rt_sigsuspend sigaltstack pause alarm setitimer getitimer"),
    ],
    "time, chance, and questions about oneself": [
        Rule("nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times"),
        Rule("getrandom uname sysinfo getrusage getrlimit getpid gettid getppid getpgrp getpgid"),
        Rule("getsid getuid geteuid getgid getegid getresuid getresgid getgroups"),
    ],
    # With another pid it would give the warm server a processor time of 0.
    "limits of one's own can be read, and lowered": [
        Rule("prlimit64", (Arg(0, EQ, pid),)) for pid in (0, _OWN_PID)
    ],
    # Datagram sockets can be aimed at the system's services by sending.
    "asyncio's pair of sockets, connected to each other": [
        Rule(
            "socketpair",
            (
                Arg(0, EQ, socket.AF_UNIX),
                Arg(
                    1,
                    MASKED_EQ,
                    0xFFFFFFFF & ~(socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK),
                    socket.SOCK_STREAM,
                ),
            ),
        ),
        Rule("sendto", (Arg(4, EQ, _NO_ADDRESS),)),
        Rule("recvfrom shutdown getsockname getpeername getsockopt"),
    ],
}
OUTER: dict[str, list[Rule]] = {
    # Landlock does not look at these. Behind the outer wall only one's own files can be changed.
    "modes and times of files": [
        Rule("chmod fchmod fchmodat utime utimes futimesat utimensat"),
    ],
}
MISSING = "clone3 openat2 futex_waitv fchmodat2"
"""Calls that are said not to exist: who makes them has another way, and takes it."""


def program(*, behind_outer_wall: bool) -> bytes:
    """The filter, as the kernel takes it; made once, it serves all children.

    Raises:
        OSError: libseccomp can't make it.
    """
    made = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    groups: Iterable[list[Rule]] = [
        *ALLOWED.values(),
        *(OUTER.values() if behind_outer_wall else ()),
    ]
    for rules in groups:
        for rule in rules:
            for call in rule.calls.split():
                _add(made, pyseccomp.ALLOW, call, rule.arguments)
    for call in MISSING.split():
        _add(made, pyseccomp.ERRNO(errno.ENOSYS), call)
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _add(
    made: pyseccomp.SyscallFilter, action: int, call: str, arguments: tuple[Arg, ...] = ()
) -> None:
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    if number >= 0:  # this processor has such a call, and this libseccomp knows it
        made.add_rule(action, number, *arguments)


def for_this_process(made: bytes) -> bytes:
    """The filter with this process's own pid in it."""
    return made.replace(struct.pack("=I", _OWN_PID), struct.pack("=I", os.getpid()))


def fork_number() -> int:
    """The number of ``clone``, with which the self-probe tries to fork."""
    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "clone"))


FORK_FLAGS = int(signal.SIGCHLD)
