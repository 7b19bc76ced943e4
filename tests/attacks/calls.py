"""System calls that no notebook needs: each would work, or fail otherwise, without the filter."""

from __future__ import annotations

from . import Attack

# Call and arguments. "me" is one's own pid; "text" a buffer, "here" the path of the working folder.
_WORK = {
    "memory outside of all limits": ["memfd_create(text, 0)", "memfd_secret(0)"],
    "faults served by itself, for races in the kernel": ["userfaultfd(1)"],
    "memory shared between processes": ["shmget(0, 4096, 0o1600)", "shmat(0, 0, 0)"],
    "queues that outlive it": [
        "semget(0, 1, 0o1600)",
        "msgget(0, 0o1600)",
        "mq_open(text, 0o102, 0o600, 0)",
    ],
    "the kernel's keyrings": [
        "add_key(text, text, text, 1, -3)",
        "request_key(text, text, 0, 0)",
        "keyctl(0, -3, 1)",
    ],
    "large and young parts of the kernel": [
        "io_uring_setup(1, blank)",
        "io_uring_enter(99, 0, 0, 0, 0, 0)",
        "io_uring_register(99, 0, 0, 0)",
        "bpf(99, 0, 0)",
        "perf_event_open(blank, 0, -1, -1, 0)",
        "landlock_create_ruleset(0, 0, 1)",
        "seccomp(2, 0, text)",
        "pkey_alloc(0, 0)",
        "modify_ldt(0, blank, 8)",
        "remap_file_pages(0, 0, 0, 0, 0)",
    ],
    # The fourth advice: forget what is in the cache.
    "a word to the next notebook, left in the cache of installed files": [
        "fadvise64(99, 0, 0, 4)",
        "mincore(0, 0, blank)",
    ],
    "a lock on installed files": ["flock(99, 2)"],
    "watching files": ["inotify_init1(0)", "inotify_init()", "signalfd4(-1, blank, 8, 0)"],
    "timers that fire at others": ["timer_create(1, 0, blank)", "timerfd_create(1, 0)"],
    "other processes": [
        "ptrace(16, 99_999, 0, 0)",
        "process_vm_readv(me, 0, 0, 0, 0, 0)",
        "process_vm_writev(me, 0, 0, 0, 0, 0)",
        "process_madvise(99, 0, 0, 0, 0)",
        "kcmp(me, me, 0, 0, 0)",
        "pidfd_open(me, 0)",
        "pidfd_getfd(99, 0, 0)",
        "pidfd_send_signal(99, 0, 0, 0)",
        "tkill(me, 0)",
        "rt_sigqueueinfo(me, 0, 0)",
        "rt_tgsigqueueinfo(me, me, 0, 0)",
        "get_robust_list(0, blank, blank)",
        "move_pages(me, 0, 0, 0, 0, 0)",
        "migrate_pages(me, 0, 0, 0)",
    ],
    "a larger share of the processor": [
        "setpriority(0, 0, 5)",
        "sched_setscheduler(0, 3, blank)",
        "sched_setparam(0, blank)",
        "sched_setattr(0, blank, 0)",
        "ioprio_set(1, 0, 24_576)",
    ],
    "where memory lies": [
        "set_mempolicy(0, 0, 0)",
        "mbind(0, 0, 0, 0, 0, 0)",
        "mlock(blank, 8)",
        "mlock2(blank, 8, 0)",
        "mlockall(4)",
    ],
    "who it is": [
        "setresuid(-1, -1, -1)",
        "setresgid(-1, -1, -1)",
        "setreuid(-1, -1)",
        "setregid(-1, -1)",
        "setfsuid(-1)",
        "setfsgid(-1)",
        "capget(blank, 0)",
        "capset(blank, 0)",
        "personality(0xFFFFFFFF)",
    ],
    "another view of the file system": [
        "unshare(0x400)",
        "setns(99, 0)",
        "open_tree(-100, here, 0)",
        "fsopen(blank, 8)",
        "move_mount(99, text, 99, text, 0)",
        "mount_setattr(99, text, 0, text, 1)",
        "fsconfig(99, 0, 0, 0, 0)",
        "fsmount(99, 0, 0)",
        "fspick(99, text, 99)",
    ],
    "files by other ways than their names": [
        "name_to_handle_at(-100, here, blank, blank, 0)",
        "fanotify_mark(99, 0, 0, 0, 0)",
        "splice(99, 0, 99, 0, 1, 0)",
        "tee(99, 99, 1, 0)",
        "vmsplice(99, 0, 0, 0)",
        "sync()",
        "syncfs(0)",
        "io_setup(1, blank)",
        "ustat(0, blank)",
        "sysfs(3)",
    ],
}


def _attack(why: str, line: str) -> Attack:
    name, _, arguments = line.partition("(")
    code = (
        f"return call({name!r}, {arguments[:-1]})" if arguments != ")" else f"return call({name!r})"
    )
    return Attack(f"{why}: {name}", f"filter: no {name}", code, bare="done")


ATTACKS = [_attack(why, line) for why, lines in _WORK.items() for line in lines]
