"""Each attack is stopped by the line of the filter, or the right of Landlock, that it names.

A process puts up that wall alone, and tries; another one puts it up with that one call let
through, or that one right granted, and there the attack gets as far as without any wall.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable
from errno import EACCES, ENOSYS, EPERM
from pathlib import Path

import pytest
from attacks import Attack
from classroom import ROOT
from test_attacks import ATTACKS, PRELUDE, Outside, outside

pyseccomp = pytest.importorskip("pyseccomp", reason="walls need Linux")

from landlockpy import AccessFS, Ruleset  # noqa: E402

from autograder.engine import inner, linux, syscalls  # noqa: E402
from autograder.engine.syscalls import Rule  # noqa: E402

__all__ = ["outside"]  # the fixture
FILTERED = {
    name: attack
    for name, attack in ATTACKS.items()
    # Without a filter these are an attack on any machine, so that the difference can be seen.
    if attack.rule.startswith("filter: ") and attack.bare and attack.inside != "crashed"
}

# What comes after the call that is stopped, and has lines of its own.
ALSO = {
    "arguments: a process that shares its memory": "execve",
    "network: a connection to the grader's machine": "connect setsockopt",
    "network: a datagram for a service of the system": "sendto",
}

# Its program starts, and other lines keep it from loading its libraries.
FURTHER = {
    "arguments: a process that shares its memory": "CalledProcessError(127, ['/bin/true'])",
}


def calls_of(attack: Attack) -> str:
    """The calls of the line, as its rule names them: "filter: no mknod, mknodat"."""
    words = attack.rule.removeprefix("filter: ").removeprefix("no ").removeprefix("all 64 bits of ")
    names = [word.strip("',").removesuffix("'s") for word in words.split()]
    known = [n for n in names if n.islower() and number(n) >= 0]
    assert known, f"no call is named in {attack.rule!r}"
    return " ".join(known)


def number(call: str) -> int:
    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call))


def tried(
    attack: Attack, outside: Outside, folder: Path, confine: Callable[[], object]
) -> str | int:
    """How it ended in a process confined so: an OSError's number, or that it got through.

    Any other error is no getting through; it is told as it is.
    """
    names = {name for name in attack.code.split("'") if name.isidentifier()}
    numbers = {name: number(name) for name in names if number(name) >= 0}
    code = PRELUDE.format(target=outside.target(), numbers=numbers)
    code += f"def attack():\n{textwrap.indent(attack.code, '    ')}\n"
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        end: str | int = "not tried"
        try:
            os.setsid()
            os.chdir(folder)
            space: dict[str, object] = {}
            exec(code, space)
            linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
            confine()
            try:
                exec("attack()", space)
                end = "got through"
            except OSError as error:
                end = error.errno or 0
            except BaseException as error:
                end = repr(error)
        finally:
            os.write(write, json.dumps(end).encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read(99)
    _, status = os.waitpid(pid, 0)
    if said:
        end = json.loads(said)
        assert isinstance(end, str | int)
        return end
    return "another program" if os.WIFEXITED(status) else f"ended by signal {os.WTERMSIG(status)}"


def filtered() -> Callable[[], object]:
    """What loads the filter as it is now."""
    made = syscalls.program(behind_outer_wall=True)
    return lambda: linux.load_filter(syscalls.for_this_process(made))


@pytest.mark.parametrize("name", FILTERED)
def test_this_line_stops_it(
    name: str, outside: Outside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack = FILTERED[name]
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setitem(syscalls.ALLOWED, "what comes later", [Rule(ALSO.get(name, "getpid"))])
    assert tried(attack, outside, folder, filtered()) in (EPERM, ENOSYS)
    calls = calls_of(attack)
    monkeypatch.setitem(syscalls.ALLOWED, "what the attack needs", [Rule(calls)])
    left = [call for call in syscalls.MISSING.split() if call not in calls.split()]
    monkeypatch.setattr(syscalls, "MISSING", " ".join(left))
    for path in folder.iterdir():
        path.unlink()
    end = tried(attack, outside, folder, filtered())
    for path in folder.iterdir():
        path.unlink()
    # As far as without any wall; of some the kernel makes nothing, with such arguments.
    assert end == FURTHER.get(name, tried(attack, outside, folder, lambda: None))
    assert end not in (EPERM, ENOSYS)


RIGHTS = {
    name: attack
    for name, attack in ATTACKS.items()
    if attack.rule.removeprefix("Landlock: ") in AccessFS.__members__ and attack.bare
}


def rights(outside: Outside, folder: Path, granted: AccessFS) -> Callable[[], object]:
    """What grants all rights in a folder of its own, and those ``granted`` outside."""
    rules = Ruleset()
    rules.allow_path(folder, inner._WRITE)
    if granted:
        rules.allow_path(outside.folder, granted)
    return rules.restrict


@pytest.mark.parametrize("name", RIGHTS)
def test_this_right_is_missing(name: str, outside: Outside, tmp_path: Path) -> None:
    attack = RIGHTS[name]
    folder = tmp_path / "own"
    folder.mkdir()
    # What is made is opened, too.
    also = AccessFS.READ_FILE if "MAKE_REG" in attack.rule else AccessFS(0)
    assert tried(attack, outside, folder, rights(outside, folder, also)) == EACCES
    right = AccessFS[attack.rule.removeprefix("Landlock: ")]
    assert tried(attack, outside, folder, rights(outside, folder, also | right)) == "got through"


def test_no_other_error_counts_as_getting_through(outside: Outside, tmp_path: Path) -> None:
    def end(code: str) -> str | int:
        return tried(Attack("x", "none", code), outside, tmp_path, lambda: None)

    assert end("return 1") == "got through"
    assert end("raise OSError(5, 'x')") == 5
    assert end("raise ValueError('x')") == "ValueError('x')"
    assert end("os.kill(me, 9)") == "ended by signal 9"
    assert end("os.execv('/bin/true', ['true'])") == "another program"
    assert end("return (") == "not tried"


def test_as_many_are_tried_so_as_is_said() -> None:
    said = (ROOT / "SECURITY.md").read_text("utf-8")
    for tried_so, wall, what in (
        (FILTERED, "filter", "one line of the filter"),
        (RIGHTS, "Landlock", "one named right of Landlock"),
    ):
        all_of_it = [a for a in ATTACKS.values() if a.rule.startswith(f"{wall}: ")]
        assert f"{what} ({len(tried_so)} of {len(all_of_it)})" in said


def test_most_attacks_are_the_filters_and_each_names_its_own_calls() -> None:
    """Calls that are refused whole are named once; of the others each has its own argument."""
    whole = [a for a in FILTERED.values() if a.rule.startswith("filter: no ")]
    calls = [call for attack in whole for call in calls_of(attack).split()]
    assert len(calls) == len(set(calls)) > 80
    allowed = {c for rules in syscalls.ALLOWED.values() for r in rules for c in r.calls.split()}
    assert not allowed & set(calls)
    parts = [a for a in FILTERED.values() if a not in whole]
    assert len({a.rule for a in parts}) == len(parts) > 10
