"""A ``dask.distributed`` cluster as a pool: more machines, the same interface.

The notebooks' cells travel to the cluster, what was observed travels back; only the driver, which
started the grading, reads submissions and writes the gradebook. A Dask worker needs this package
in the same version, and nothing of the course.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import threading
import uuid
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, InvalidStateError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from autograder.engine import EngineError, WorkerLost

from .errors import GradingError
from .pool import Setup

try:
    import distributed
except ImportError as error:
    raise GradingError(
        "--dask needs the package distributed: pip install -c constraints.txt -e '.[dask]'"
    ) from error

from . import cluster_worker

T = TypeVar("T")
_CONNECT_SECONDS = 30.0  # for a scheduler to answer, and then for a first worker
_LOOK_SECONDS = 5.0
_ALONE_SECONDS = 60.0  # without any worker: Dask itself would wait for ever


@dataclass(frozen=True)
class _Call:
    """A task, and the values that a Dask worker should know already."""

    pickled: bytes
    shared: Mapping[str, bytes]
    alone: bool = False


class DaskPool:
    """The workers of a running Dask cluster.

    Args:
        address: the scheduler's, as ``tcp://host:8786``.
        setup: how the warm workers are made, one for each thread of each Dask worker.

    Raises:
        GradingError: no scheduler or no worker answers, or a worker has another version.
    """

    def __init__(self, address: str, setup: Setup | None = None) -> None:
        _hush()
        self._address = address
        self._run = cluster_worker.Run(
            uuid.uuid4().hex, setup or Setup(), cluster_worker.installed()
        )
        self._changed = threading.Condition()
        self._tasks: dict[Future[Any], distributed.Future] = {}  # on the cluster
        self._shared: WeakKeyDictionary[Future[Any], cluster_worker.Shared] = WeakKeyDictionary()
        self._gone = ""  # why no task can be run any more
        self._client = self._connect()
        try:
            self._greet()
        except BaseException:
            self._client.close()
            raise
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="sender")
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="watcher", daemon=True)
        self._watcher.start()

    def _connect(self) -> distributed.Client:
        try:
            # First: a client waits for ever where something else answers, as Dask's dashboard.
            asyncio.run(_probe(self._address))
            return distributed.Client(self._address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # Dask takes what another program says for anything
            why = str(error) or "nothing that Dask understands"
            raise GradingError(
                f"no Dask scheduler answers at {self._address} ({why}). "
                "Start one with `dask scheduler`, which prints its address, as tcp://host:8786"
            ) from error

    def _greet(self) -> None:
        """See that the workers can do it, and let them warm."""
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            found = self._client.run(cluster_worker.greet, self._run, on_error="return")
        except OSError as error:
            raise GradingError(
                f"the Dask scheduler at {self._address} has no workers. Start some with `dask "
                f"worker {self._address}`, on machines that have this package"
            ) from error
        for worker, installed in found.items():
            lacks = cluster_worker.difference(installed, self._run.installed)
            if lacks:
                raise GradingError(
                    f"the Dask worker {worker} {lacks}. Install the same on all machines, with "
                    "`pip install -c constraints.txt -e .`, and start the worker anew"
                )

    @property
    def size(self) -> int:
        """How many tasks run at a time; it changes as workers come and go."""
        return sum(self._client.nthreads().values()) or 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """As :meth:`autograder.desk.pool.Pool.submit`; ``function`` must be importable.

        A task that ended several Dask workers is run once more while nothing else is: Dask blames
        all tasks that such a worker had, also those that only waited there.
        """
        future: Future[T] = Future()
        self._send_when_known(future, function, args)
        return future

    def _send_when_known(
        self, future: Future[T], function: Callable[..., T], args: tuple[Any, ...]
    ) -> None:
        """Hand it to the sender once the arguments are known."""
        for arg in args:
            if isinstance(arg, Future) and not arg.done():
                arg.add_done_callback(lambda _: self._send_when_known(future, function, args))
                return
        self._later(self._send, future, function, args)

    def _later(self, function: Callable[..., None], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            self._sender.submit(function, *args)

    def _send(self, future: Future[T], function: Callable[..., T], args: tuple[Any, ...]) -> None:
        try:
            # Values, not Dask's futures: Dask would send all tasks where their arguments are.
            values = [self._share(arg) if isinstance(arg, Future) else arg for arg in args]
            shared = {v.id: v.data for v in values if isinstance(v, cluster_worker.Shared)}
            self._start(future, _Call(pickle.dumps((function, values)), shared))
        except BaseException as error:  # whatever it is, the one who waits must get it
            _end(future, error=error)

    def _share(self, future: Future[Any]) -> cluster_worker.Shared:
        """Let all Dask workers know a result, once."""
        if future not in self._shared:
            data = pickle.dumps(future.result())
            shared = self._shared[future] = cluster_worker.Shared(uuid.uuid4().hex, data)
            self._client.run(cluster_worker.hold, {shared.id: data}, on_error="ignore")
        return self._shared[future]

    def _send_alone(self, future: Future[Any], call: _Call) -> None:
        try:
            self._wait(lambda: not self._tasks)
            self._start(future, replace(call, alone=True))
            self._wait(lambda: future not in self._tasks)
        except BaseException as error:
            _end(future, error=error)

    def _wait(self, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._gone or until())

    def _start(self, future: Future[Any], call: _Call, *, whole: bool = False) -> None:
        with self._changed:
            if self._gone:
                raise EngineError(self._gone)
            # As bytes: nothing in there is taken for a part of Dask's graph.
            values = call.shared if whole else {}
            work = cluster_worker.work
            task = self._client.submit(work, self._run, call.pickled, values, pure=False)
            self._tasks[future] = task
        task.add_done_callback(lambda done: self._settle(future, call, done))

    def _settle(self, future: Future[Any], call: _Call, task: distributed.Future) -> None:
        try:
            result = task.result()
            if isinstance(result, cluster_worker.Lacks):  # it came later
                self._start(future, call, whole=True)
            else:
                _end(future, result)
        except distributed.KilledWorker:
            if call.alone:
                _end(future, error=WorkerLost("it ended each Dask worker that it ran on"))
            else:
                self._later(self._send_alone, future, call)
        except CancelledError as error:
            if self._client.status != "running":
                self._give_up(f"the Dask scheduler at {self._address} went away")
            _end(future, error=EngineError(self._gone or f"Dask gave it up ({error})"))
        except BaseException as error:
            _end(future, error=error)
        finally:
            with self._changed:
                if self._tasks.get(future) is task:
                    del self._tasks[future]
                self._changed.notify_all()

    def _watch(self) -> None:
        """Give up where there is no worker for a while."""
        missing = 0.0
        while missing < _ALONE_SECONDS:
            if self._closed.wait(_LOOK_SECONDS):
                return
            try:
                missing = 0.0 if self._client.nthreads() else missing + _LOOK_SECONDS
            except (OSError, ValueError):  # no scheduler either
                missing += _LOOK_SECONDS
        self._give_up(
            f"no worker of the Dask scheduler at {self._address} is there any more; start some "
            f"with `dask worker {self._address}`"
        )

    def _give_up(self, why: str) -> list[distributed.Future]:
        """Let all tasks end with an error; what there was on the cluster."""
        with self._changed:
            self._gone = self._gone or why
            tasks = dict(self._tasks)
            self._tasks.clear()
            self._changed.notify_all()
        for future in tasks:
            _end(future, error=EngineError(self._gone))
        return list(tasks.values())

    def close(self) -> None:
        """As :meth:`autograder.desk.pool.Pool.close`."""
        self._closed.set()
        tasks = self._give_up(cluster_worker.STOPPED)
        self._sender.shutdown(cancel_futures=True)
        try:
            if self._client.status == "running":
                self._client.cancel(tasks, force=True)
                self._client.run(cluster_worker.stop, self._run.id, on_error="ignore")
        except (OSError, ValueError, CancelledError):
            pass  # the cluster went away first
        finally:
            self._client.close()


async def _probe(address: str) -> None:
    """See that it is a scheduler who answers there."""
    security = distributed.Security().get_connection_args("client")
    async with asyncio.timeout(_CONNECT_SECONDS):
        async with distributed.rpc(address, connection_args=security) as server:
            kind = (await server.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a Dask {kind.lower()} does")


def _hush() -> None:
    """Keep Dask's own messages off the terminal, in the driver only."""
    for name in ("distributed", "distributed.client", "distributed.gc", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"distributed\.")


def _end(future: Future[T], value: Any = None, error: BaseException | None = None) -> None:
    # It may have been given up meanwhile.
    with contextlib.suppress(InvalidStateError):
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
