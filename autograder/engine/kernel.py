"""A Jupyter kernel of this Python, through nbclient: for where notebooks can't be forked."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ipykernel.kernelspec import get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

# A time limit is told in words. Traitlets' own logger is everybody's, and stays as it is.
_SILENT = logging.getLogger(f"{__name__}.silent")
_SILENT.disabled = True


class _ThisPython(KernelSpecManager):
    """Knows one kernel: ipykernel in the Python that runs now."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(**get_kernel_dict())


@contextmanager
def running(
    notebook: Any,
    folder: Path,
    seconds: Callable[[Any], float],
    variables: Mapping[str, str],
) -> Iterator[NotebookClient]:
    """A kernel for a notebook's cells; it is gone afterwards.

    Args:
        folder: where it works.
        seconds: says how long a cell may take, in seconds.
        variables: of its environment, beside those of this process.
    """
    manager = AsyncKernelManager(kernel_spec_manager=_ThisPython())
    client = NotebookClient(
        notebook,
        km=manager,
        timeout_func=seconds,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        log=_SILENT,
    )
    try:
        client.start_new_kernel(env={**os.environ, **variables}, stderr=subprocess.DEVNULL)
        client.start_new_kernel_client()
        yield client
    finally:
        if client.kc is not None:
            client.kc.stop_channels()
        if manager.has_kernel:
            run_sync(manager.shutdown_kernel)(now=True)
