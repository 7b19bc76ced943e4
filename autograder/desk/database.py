"""The database behind a gradebook: made where it is missing, waited for where it is away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy
import tenacity
from alembic.script import ScriptDirectory
from nbgrader import api, dbutil
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

T = TypeVar("T")
PATIENCE = 300.0  # seconds for which a database that can't be reached is waited for
PATIENCE_AT_FIRST = 60.0  # ... before anything was done, when its address may be wrong


class Patience:
    """Waits for a database that can't be reached.

    Args:
        waits: told, once for each time, that and why it is waited for.
    """

    def __init__(self, waits: Callable[[str], None]) -> None:
        self._waits = waits

    def wait(self, action: Callable[[], T], seconds: float | None = None) -> T:
        """Do something, again and again while the database is away, for ``PATIENCE`` at most.

        Raises:
            Exception: what the action raised last.
        """

        def told(state: tenacity.RetryCallState) -> None:
            if state.attempt_number == 1 and state.outcome is not None:
                self._waits(cause(state.outcome.exception()))

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(passes),
            wait=tenacity.wait_exponential(0.2, max=5),
            stop=tenacity.stop_after_delay(PATIENCE if seconds is None else seconds),
            before_sleep=told,
            reraise=True,
        )(action)


def make(db_url: str) -> None:
    """Make nbgrader's tables where they are missing, also where somebody was killed in between.

    nbgrader does it too, but starts `alembic` by name, which an unactivated venv hasn't on PATH,
    only to learn the version of its own tables.
    """
    engine = sqlalchemy.create_engine(db_url)
    with engine.begin() as db:
        api.Base.metadata.create_all(db)
        table = "alembic_version"  # as `nbgrader db upgrade` wants it
        db.execute(text(f"CREATE TABLE IF NOT EXISTS {table} (version_num VARCHAR(32) NOT NULL)"))
        if db.execute(text(f"SELECT version_num FROM {table}")).first() is None:
            version = ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head()
            insert = text(f"INSERT INTO {table} (version_num) VALUES (:version)")
            db.execute(insert, {"version": version})
    engine.dispose()


def passes(error: BaseException) -> bool:
    """Whether the database may be there again in a moment."""
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if not isinstance(error, OperationalError):
        return False
    name = getattr(error.orig, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    state = getattr(error.orig, "sqlstate", None)  # psycopg's; None where no server answered
    # No more connections, none at all, a conflict with another one, an administrator.
    return state is None or state == "53300" or state[:2] in ("08", "40", "57")


def cause(error: BaseException | None) -> str:
    """A database error in a line, without SQLAlchemy's SQL."""
    words = str(getattr(error, "orig", None) or error).split()
    return " ".join(words) or type(error).__name__


def address(db_url: str) -> str:
    """A database's address without its password."""
    try:
        return sqlalchemy.make_url(db_url).render_as_string(hide_password=True)
    except sqlalchemy.exc.ArgumentError:
        return "(no address of a database)"  # it may hold a password all the same
