"""A real PostgreSQL server that tests start, stop and throw away."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import need
from pytest_postgresql.executors import PostgreSQLExecutor
from pytest_postgresql.janitor import DatabaseJanitor

# PostgreSQL refuses to run as root, which tests in containers do.
NOBODY_SPECIAL = "postgres"
PASSWORD = "not-for-anybodys-eyes"


@contextmanager
def server() -> Iterator[PostgreSQLExecutor]:
    """A running server with its files in a folder of its own, gone afterwards."""
    # Not in pytest's folder, which only the user who runs the tests may enter.
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    started = PostgreSQLExecutor(
        executable=str(_pg_ctl(folder)),
        host="127.0.0.1",
        port=_free_port(),
        datadir=str(folder / "data"),
        unixsocketdir=str(folder),
        logfile=str(folder / "log"),
        startparams="-w",
        dbname="unused",
    )
    try:
        with started:
            yield started
    finally:
        shutil.rmtree(folder)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _pg_ctl(folder: Path) -> Path:
    """PostgreSQL's own program; for root one that runs it as a user who owns ``folder``."""
    program = Path(need("postgresql")).with_name("pg_ctl")
    if os.geteuid() != 0:
        return program
    shutil.chown(folder, NOBODY_SPECIAL, NOBODY_SPECIAL)
    wrapper = folder / "pg_ctl"
    as_user = f"setpriv --reuid={NOBODY_SPECIAL} --regid={NOBODY_SPECIAL} --init-groups"
    wrapper.write_text(f'#!/bin/sh\ncd "{folder}" && exec {as_user} "{program}" "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


@contextmanager
def database(started: PostgreSQLExecutor, name: str, template: str | None = None) -> Iterator[str]:
    """The URL of a new database, empty or a copy of ``template``; gone afterwards."""
    janitor = DatabaseJanitor(
        user=started.user,
        host=started.host,
        port=started.port,
        dbname=name,
        template_dbname=template,
    )
    with janitor:
        who = f"{started.user}:{PASSWORD}"  # the server trusts everybody and asks for none
        yield f"postgresql+psycopg://{who}@{started.host}:{started.port}/{name}"
