"""The corpus of attacks once more, as a user who is not root, where the tests run as root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
# Python may be in root's home, which nobody else can enter: there it gets another one, in a view
# of the file system that only these processes have.
AS_NOBODY = """
home=$HOME
case "$PYTHON_FROM" in
"$home"/*)
    keep=$(mktemp -d)
    mount --bind "$PYTHON_FROM" "$keep"
    mount -t tmpfs -o mode=755 tmpfs "$home"
    mkdir -p -m 755 "$PYTHON_FROM"
    mount --bind "$keep" "$PYTHON_FROM"
    umount "$keep"; rmdir "$keep" ;;
esac
exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$@"
"""


@pytest.mark.long  # it is the whole corpus
@pytest.mark.timeout(1_200)
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_attacks_as_an_ordinary_user() -> None:
    # Not pytest's own folder: it is for root, and its name too long for a socket in it.
    with tempfile.TemporaryDirectory(prefix="attacks-") as base:
        Path(base).chmod(0o777)
        done = subprocess.run(
            [
                *("unshare", "--mount", "sh", "-euc", AS_NOBODY, "sh"),
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("--basetemp", f"{base}/t", "-k", "nothing", str(TESTS / "test_attacks.py")),
            ],
            env={**os.environ, "PYTHON_FROM": sys.base_prefix, "PYTHONPATH": str(TESTS.parent)},
            cwd=TESTS.parent,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-1_000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
