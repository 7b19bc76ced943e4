"""Calls that a notebook needs, with arguments that it does not need."""

from __future__ import annotations

from . import Attack

ATTACKS = [
    Attack(
        "a process by fork",
        "filter: clone without CLONE_THREAD",
        "pid = os.fork()\nif pid == 0: os._exit(0)\nreturn os.waitpid(pid, 0)",
    ),
    Attack(
        "a process that shares its memory",
        "filter: no vfork",
        "return subprocess.run(['/bin/true'], check=True)",
    ),
    Attack(
        "a process by the newest call",
        "filter: clone3 does not exist",
        "import struct\nargs = ctypes.create_string_buffer(struct.pack('11Q', 0, 0, 0, 0, 17,"
        " *[0] * 6))\npid = call('clone3', args, 88)\nif pid == 0: os._exit(0)\n"
        "return os.waitpid(pid, 0)",
    ),
    Attack(
        "a process in a namespace of its own, hidden among a thread's flags",
        "filter: clone with a namespace",
        # CLONE_THREAD with CLONE_NEWUSER is EINVAL without a filter, EPERM with it.
        "call('clone', 0x10000000 | 0x10f00, 0, 0, 0, 0)",
        bare=None,
    ),
    Attack(
        "a thread with descriptors of its own, which no limit counts",
        "filter: clone without CLONE_FILES",
        "call('clone', 0x10100, 0, 0, 0, 0)",  # threads share signals: EINVAL without a filter
    ),
    Attack(
        "descriptors of its own for a thread that runs",
        "filter: close_range with CLOSE_RANGE_UNSHARE",
        "call('close_range', 60_000, 60_001, 2)",
    ),
    Attack(
        "becoming another program",
        "filter: no execve",
        "os.execv('/bin/true', ['true'])",
        bare="crashed",
    ),
    Attack(
        "becoming another program by its descriptor",
        "filter: no execveat",
        "fd = os.open('/bin/true', os.O_RDONLY)\ncall('execveat', fd, blank, 0, 0, 0x1000)",
        bare="crashed",
    ),
    Attack(
        "typing into the terminal of the grader",
        "filter: ioctl with TIOCSTI",
        "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x')",
        bare=None,  # there is no terminal
    ),
    Attack(
        "a command for a device, hidden in the upper half of a register",
        "filter: all 64 bits of ioctl's command",
        "call('ioctl', 3, 0xFFFFFFFF_00005421, blank)",
    ),
    Attack(
        "a signal to the grader through a descriptor's owner",
        "filter: fcntl with F_SETOWN",
        "import fcntl\na, b = os.pipe()\nfcntl.fcntl(a, fcntl.F_SETOWN, os.getppid())",
    ),
    Attack(
        "another signal for a descriptor's owner",
        "filter: fcntl with F_SETSIG",
        "import fcntl\na, b = os.pipe()\nfcntl.fcntl(a, fcntl.F_SETSIG, 9)",
    ),
    Attack(
        "pipes that hold a megabyte each",
        "filter: fcntl with F_SETPIPE_SZ",
        "import fcntl\na, b = os.pipe()\nfcntl.fcntl(a, 1031, 2**20)",
    ),
    Attack(
        "a lease, which makes others wait for a file",
        "filter: fcntl with F_SETLEASE",
        "import fcntl\nopen('mine', 'w').close()\nfcntl.fcntl(os.open('mine', 0), 1024, 0)",
    ),
    Attack(
        "being told of changes in a folder",
        "filter: fcntl with F_NOTIFY",
        "import fcntl\nfcntl.fcntl(os.open('.', 0), 1026, 1)",
    ),
    Attack(
        "truncating a file that may only be read",
        "filter: open with O_TRUNC and without writing",
        "os.close(os.open(target['readable'], os.O_RDONLY | os.O_TRUNC))",
        bare=None,
    ),
    Attack(
        "opening what may be neither read nor written",
        "filter: openat with both O_WRONLY and O_RDWR",
        "os.close(os.open(target['secret'], os.O_WRONLY | os.O_RDWR))",
    ),
    Attack(
        "a file that never has a name",
        "filter: openat with O_TMPFILE",
        "os.close(os.open('.', os.O_TMPFILE | os.O_RDWR))",
    ),
    Attack(
        "room on the disk beyond a file's end",
        "filter: fallocate with FALLOC_FL_KEEP_SIZE",
        "fd = os.open('mine', os.O_RDWR | os.O_CREAT)\ncall('fallocate', fd, 1, 0, 2**20)",
    ),
    Attack(
        "truncating a file by its name",
        "filter: no truncate",
        "open('mine', 'w').close()\nos.truncate('mine', 0)",
    ),
    Attack(
        "a file made by an old call",
        "filter: no creat",
        "return call('creat', b'mine', 0o600)",
    ),
    Attack(
        "another name for a file",
        "filter: no link",
        "open('mine', 'w').close()\nos.link('mine', 'yours')",
    ),
    Attack("a pipe with a name", "filter: no mknod, mknodat", "os.mkfifo('mine')"),
    Attack(
        "extended attributes",
        "filter: no setxattr",
        "open('mine', 'w').close()\ncall('setxattr', b'mine', b'user.x', b'y', 1, 0)",
        bare=None,  # not every file system has them
    ),
    Attack("a file's owner", "filter: no chown", "os.chown('.', -1, -1)"),
    Attack(
        "living on when the grader ends",
        "filter: prctl with PR_SET_PDEATHSIG",
        "call('prctl', 1, 0, 0, 0, 0)",
    ),
    Attack(
        "letting others trace it",
        "filter: prctl with PR_SET_PTRACER",
        "call('prctl', 0x59616D61, -1, 0, 0, 0)",
    ),
    Attack(
        "a process that nobody can look into",
        "filter: prctl with PR_SET_DUMPABLE",
        "call('prctl', 4, 0, 0, 0, 0)",
    ),
    Attack(
        "keeping what its processes leave",
        "filter: prctl with PR_SET_CHILD_SUBREAPER",
        "call('prctl', 36, 1, 0, 0, 0)",
    ),
    Attack(
        "a processor time of 0 for the grader",
        "filter: prlimit64 of another process",
        "import resource\nreturn resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    ),
    Attack(
        "higher limits for itself",
        "the kernel: hard limits only go down",
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2**40, 2**40))",
        bare=None,  # root may
    ),
    Attack(
        "one processor for the grader",
        "filter: sched_setaffinity of another process",
        "os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))",
    ),
    Attack(
        "killing the grader",
        "filter: kill of another process",
        "os.kill(os.getppid(), 0)",
    ),
    Attack(
        "killing all processes",
        "filter: kill of all",
        "os.kill(-1, 0)",
    ),
    Attack(
        "killing a thread of the grader",
        "filter: tgkill of another process",
        "call('tgkill', os.getppid(), os.getppid(), 0)",
    ),
    Attack(
        "calls by their numbers of another interface (x32)",
        "filter: no x32",
        "return libc.syscall(0x40000000 + 39)",
        inside="crashed",
        inner="crashed",
        bare=None,  # most kernels have it not
    ),
    Attack(
        "calls by the 32-bit interface, whose numbers mean something else",
        "filter: no other architecture",
        # mov eax, 20 (getpid); int 0x80; ret
        "import mmap\npage = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"
        "place = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "return ctypes.CFUNCTYPE(ctypes.c_int)(place)()",
        inside="crashed",
        inner="crashed",
        bare=None,  # not every kernel has it
    ),
]
