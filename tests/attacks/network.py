"""Ways to reach somebody: nothing is ever accepted outside."""

from __future__ import annotations

from . import Attack

_PAIR = "import socket\na, b = socket.socketpair()\n"

ATTACKS = [
    Attack(
        "a connection to the grader's machine",
        "filter: no socket",
        "import socket\nreturn socket.create_connection(target['tcp'], timeout=5)",
    ),
    Attack(
        "a datagram for a service of the system",
        "filter: socketpair of another type than SOCK_STREAM",
        "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "a.sendto(b'hello', target['datagrams'])",
    ),
    Attack(
        "a pair of another family",
        "filter: socketpair of another family than AF_UNIX",
        # TIPC, which is EAFNOSUPPORT where the kernel has it not
        "call('socketpair', 30, 1, 0, blank)",
    ),
    Attack(
        "a socket of a pair aimed elsewhere by sending",
        "filter: sendto with an address",
        f"{_PAIR}a.sendto(b'hello', target['datagrams'])",
        bare="done",
    ),
    Attack(
        "a socket of a pair aimed elsewhere by connecting",
        "filter: no connect",
        f"{_PAIR}a.connect(target['datagrams'])",
    ),
    Attack("a name for a socket", "filter: no bind", f"{_PAIR}a.bind('mine')"),
    Attack("waiting for others", "filter: no listen", f"{_PAIR}a.listen()"),
    Attack("taking others in", "filter: no accept4", f"{_PAIR}a.accept()"),
    Attack(
        "descriptors in flight, which no limit counts",
        "filter: no sendmsg",
        f"{_PAIR}socket.send_fds(a, [b'x'], [0])",
    ),
    Attack(
        "taking descriptors", "filter: no recvmsg", f"{_PAIR}a.send(b'x')\nsocket.recv_fds(b, 1, 1)"
    ),
    Attack(
        "many datagrams by one call",
        "filter: no sendmmsg",
        f"{_PAIR}call('sendmmsg', a.fileno(), blank, 0, 0)",
    ),
    Attack(
        "options of sockets",
        "filter: no setsockopt",
        f"{_PAIR}a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)",
    ),
    Attack(
        "the grader's own connections, by any number",
        "the child: all descriptors but its own are closed",
        "for fd in range(4, 4_096):\n"
        "    try: os.write(fd, b'\\0\\0\\0\\2{}')\n"
        "    except OSError: continue\n"
        "    return fd\n"
        "raise PermissionError('none')",
        bare="refused",
    ),
]
