"""Too much of everything. In tier B the server looks how much disk is taken."""

from __future__ import annotations

from . import Attack

ATTACKS = [
    Attack(
        "memory",
        "RLIMIT_AS",
        "return bytearray(8 * 2**30)",
        bare="refused",
    ),
    Attack(
        "threads",
        "the outer wall: RLIMIT_NPROC counts in it; else RLIMIT_AS",
        "import threading, time\nfor _ in range(1_000):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        inner="refused",
        bare=None,
    ),
    Attack(
        "one large file",
        "RLIMIT_FSIZE",
        "with open('large', 'wb') as file:\n    for _ in range(200): file.write(bytes(2**20))",
        bare="refused",
    ),
    Attack(
        "many large files",
        "the outer wall: the size of its tmpfs; else the server looks",
        "import time\nfor n in range(100):\n    with open(f'f{n}', 'wb') as file:\n"
        "        file.write(bytes(4 * 2**20))\nwhile True: time.sleep(1)",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "many large files that have no name any more",
        "the outer wall: the size of its tmpfs; else the server looks at what is open",
        "import time\nkept = []\nfor n in range(20):\n"
        "    kept.append(os.open('f', os.O_RDWR | os.O_CREAT))\n    os.unlink('f')\n"
        "    os.write(kept[-1], bytes(4 * 2**20))\nwhile True: time.sleep(1)",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "many large files that are not even open any more",
        "the outer wall: the size of its tmpfs; else the server looks at what is mapped",
        "import time\nlibc.mmap.restype = ctypes.c_ssize_t\nfor n in range(20):\n"
        "    fd = os.open('f', os.O_RDWR | os.O_CREAT)\n    os.unlink('f')\n"
        "    os.write(fd, bytes(4 * 2**20))\n"
        "    assert libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0)) != -1\n"
        "    os.close(fd)\n"
        "while True: time.sleep(1)",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "many small files",
        "the outer wall: the number of files in its tmpfs; else the server looks",
        "import time\nfor n in range(20_000):\n    open(f'f{n}', 'w').close()\n"
        "while True: time.sleep(1)",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "deeper folders than anything can count",
        "the outer wall: the number of files in its tmpfs, folders too; else the server looks",
        "import time\nfor n in range(6_000):\n    os.mkdir('d')\n    os.chdir('d')\n"
        "while True: time.sleep(1)",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "descriptors",
        "RLIMIT_NOFILE",
        "kept = [os.open('/dev/null', os.O_RDONLY) for _ in range(1_000)]",
        bare=None,  # the system's own limit
    ),
    Attack(
        "output that goes around Python",
        "the child: its standard descriptors lead to /dev/null",
        "for _ in range(1_000): os.write(1, bytes(2**20))",
        inside="done",
        inner="done",
    ),
    Attack(
        "output",
        "the shell: a cell's output is cut",
        "for _ in range(100): print('\\x1b[2J' * 2**18)",
        inside="done",
        inner="done",
    ),
    Attack(
        "values that say they are larger than they are",
        "the frames: a length is bounded",
        "os.write(3, b'\\x7f\\xff\\xff\\xff')",
        inside="crashed",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "a value of many small things, each of which takes room in the grader",
        "the frames: the number of items is bounded",
        "data = b'[' + b'[],' * 7_000_000 + b'1]'\n"
        "for part in (len(data).to_bytes(4, 'big'), data):\n"
        "    while part: part = part[os.write(3, part):]",
        inside="crashed",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "a stack without end, in C",
        "the kernel: a stack has an end, which RLIMIT_STACK sets",
        # repr of a deep list goes through C; ctypes callbacks use a large frame each
        "back = None\n@ctypes.CFUNCTYPE(None)\ndef again(): back()\nback = again\n"
        "import sys\nsys.setrecursionlimit(10**9)\nback()",
        inside="crashed",
        inner="crashed",
        bare=None,
    ),
]
