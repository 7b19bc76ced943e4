"""Other people's files. ``target['secret']`` stands for the gradebook, solutions, submissions."""

from __future__ import annotations

import sys

from . import Attack

ATTACKS = [
    Attack("reading", "Landlock: READ_FILE", "return open(target['secret']).read()"),
    Attack(
        "writing the gradebook",
        "Landlock: WRITE_FILE",
        "os.close(os.open(target['secret'], os.O_WRONLY))",
    ),
    Attack(
        "reading by a link in the working folder",
        "Landlock: looks at files, not at names",
        "os.symlink(target['secret'], 'mine')\nreturn open('mine').read()",
    ),
    Attack("what is in a folder", "Landlock: READ_DIR", "return os.listdir(target['folder'])"),
    Attack(
        "whether a name is there",
        "the outer wall: another root",
        # Landlock does not look at this, as tier B's description says.
        "return os.stat(target['secret'])",
        inner="done",
    ),
    Attack(
        "deleting",
        "Landlock: REMOVE_FILE",
        "os.unlink(target['victims'] + '/file')",
    ),
    Attack("deleting folders", "Landlock: REMOVE_DIR", "os.rmdir(target['victims'] + '/folder')"),
    Attack("making folders", "Landlock: MAKE_DIR", "os.mkdir(target['victims'] + '/new')"),
    Attack("making links", "Landlock: MAKE_SYM", "os.symlink('x', target['victims'] + '/link')"),
    Attack(
        "making files",
        "Landlock: MAKE_REG",
        "os.close(os.open(target['victims'] + '/made', os.O_CREAT))",
    ),
    Attack(
        "moving in what is outside",
        "Landlock: REFER",
        "os.rename(target['victims'] + '/moved', 'mine')",
        bare=None,  # it may be another file system
    ),
    Attack(
        "moving out what is inside",
        "Landlock: REFER, to a place without rights",
        "open('mine', 'w').close()\nos.rename('mine', os.path.dirname(os.getcwd()) + '/out')",
    ),
    Attack(
        "removing the working folder itself",
        "Landlock: REMOVE_DIR of a granted folder is its parent's right",
        "os.rmdir(os.getcwd())",
    ),
    Attack(
        "the way out by /proc/self/root",
        "Landlock: magic links lead to files, too",
        "return open('/proc/self/root' + target['secret']).read()",
    ),
    Attack(
        "the way up from the working folder",
        "Landlock: .. of a granted folder",
        "return open('../canary').read()",
    ),
    Attack(
        "a folder that is entered first",
        "Landlock: relative names",
        "os.chdir(target['folder'])\nreturn open(os.path.basename(target['secret'])).read()",
    ),
    Attack(
        "reading by a descriptor that only names a file",
        "Landlock: O_PATH gives no rights",
        "fd = os.open(target['secret'], os.O_PATH)\nreturn open(f'/proc/self/fd/{fd}').read()",
    ),
    Attack(
        "poisoning a library",
        "the outer wall: read-only; Landlock: what is granted for reading",
        "os.close(os.open(target['readable'], os.O_WRONLY))",
    ),
    Attack(
        "modes of files outside",
        "the outer wall: read-only; filter: chmod without it",
        "os.chmod(target['readable'], 0o600)",
        bare=None,  # whose file it is depends
    ),
    Attack(
        "times of files outside",
        "the outer wall: read-only; filter: utimensat without it",
        "os.utime(target['readable'])",
        bare=None,
    ),
    Attack(
        "modes of its own files",
        "tier B: filter: no chmod at all",
        "open('mine', 'w').close()\nos.chmod('mine', 0o600)",
        inside="done",  # nobody else sees them
    ),
    Attack(
        "modes and times of folders that are the server's",
        "the server: what a notebook can change, it makes anew",
        "os.utime('../canary', ns=(5, 5))\nos.utime('..', ns=(5, 5))\nos.chmod('..', 0)",
        inside="done",
    ),
    Attack(
        "a link to a name that no file system takes",
        "the server: it looks at links, and not at what they lead to",
        "os.symlink('y' * 4_000, 'link')",
        inside="done",
        inner="done",
    ),
    Attack(
        "files in the temporary folder of all",
        "the outer wall: /tmp is the notebook's own",
        "open('/tmp/autograder-attack', 'w').close()",
        # Where Python itself is in there, it is read-only.
        inside="refused" if sys.prefix.startswith("/tmp/") else "done",
        bare=None,  # it would stay
    ),
    Attack(
        "memory shared by files",
        "Landlock: /dev/shm is not granted",
        "open('/dev/shm/autograder-attack', 'w').close()",
        bare=None,
    ),
    Attack(
        "settings of the kernel",
        "Landlock: of /proc only /proc/self is granted",
        "return open('/proc/sys/kernel/core_pattern').read()",
    ),
    Attack(
        "its own read-only memory",
        "Landlock: what is granted of /proc/self is read-only",
        "open('/proc/self/mem', 'r+b', 0).close()",
    ),
    Attack(
        "connections of the machine",
        "Landlock: of /proc/self only what is its own",
        "return open('/proc/self/net/tcp').read()",
    ),
    Attack(
        "devices",
        "Landlock: of /dev only a few are granted",
        "return os.open('/dev/tty', os.O_RDONLY) if os.path.exists('/dev/tty') else "
        "os.open('/dev/ptmx', os.O_RDWR)",
        bare=None,
    ),
    Attack(
        "accounts of the system",
        "Landlock: of /etc little is granted",
        "return open('/etc/passwd').read()",
    ),
]
