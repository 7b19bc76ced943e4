"""What the grader and other processes hold in memory and in their environment."""

from __future__ import annotations

from . import Attack

ATTACKS = [
    Attack(
        "the grader's environment",
        "Landlock: /proc of another process",
        "return open(f'/proc/{os.getppid()}/environ').read()",
    ),
    Attack(
        "the environment that its server started with, on the stack",
        "the worker: the grader's PATH goes to no server",
        "import re\nfor line in open('/proc/self/maps'):\n    if '[stack]' in line:\n"
        "        start, end = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "memory = open('/proc/self/mem', 'rb')\nmemory.seek(start)\n"
        "seen = set(re.findall(rb'\\0PATH=([^\\0]*)', memory.read(end - start)))\n"
        "if seen == {b'/usr/bin:/bin'}: raise PermissionError('not there')\nreturn seen",
        bare=None,  # it does so for every server
    ),
    Attack(
        "its own environment, as the grader left it",
        "the worker: a server's environment is made anew",
        "if not {'AUTOGRADER_TEST_SECRET', 'LD_LIBRARY_PATH', 'PYTHONPATH'} & os.environ.keys():\n"
        "    if os.environ['PATH'] == '/usr/bin:/bin': raise PermissionError('not there')",
        bare="refused",
    ),
    Attack(
        "which processes there are",
        "the outer wall: its own processes",
        "os.stat(f\"/proc/{target['process']}/stat\")",
        inner="done",
    ),
    Attack(
        "a thread that never ends",
        "the server kills the process when the last cell has ended",
        "import threading\ndef run():\n    while True: pass\nthreading.Thread(target=run).start()",
        inside="done",
        inner="done",
    ),
    Attack(
        "something to do at the end, for ever",
        "the server does not wait for it",
        "import atexit, time\natexit.register(lambda: time.sleep(10_000))",
        inside="done",
        inner="done",
    ),
    Attack(
        "ending before its time, with success",
        "the parent counts the cells that ended",
        "os._exit(0)",
        inside="crashed",
        inner="crashed",
        bare="crashed",
    ),
    Attack(
        "signals that are all ignored, and a loop",
        "the parent's clock",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass",
        inside="timed out",
        inner="timed out",
        bare=None,
    ),
]
