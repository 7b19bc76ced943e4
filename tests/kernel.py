"""A real kernel for tests, as a front end drives it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jupyter_client import BlockingKernelClient, KernelManager

SECONDS = 120  # for anything: a busy machine takes long to import torch


class Kernel:
    """A kernel in a folder, without nbgrader's variable; it is gone when the block ends."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.manager = KernelManager(kernel_name="python3")
        away = ("NBGRADER_EXECUTION", "JPY_SESSION_NAME")
        kept = {name: value for name, value in os.environ.items() if name not in away}
        self.manager.start_kernel(cwd=str(folder), env=kept | environment)
        self.client: BlockingKernelClient = self.manager.blocking_client()

    def __enter__(self) -> Self:
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def start(self, source: str, cell_id: str = "") -> str:
        """Ask for a cell to be run, as JupyterLab does; the message's id."""
        content = {
            "code": source,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        metadata = {"cellId": cell_id} if cell_id else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def messages(self, of: str) -> Iterator[dict[str, Any]]:
        """What a cell sends, as it comes, until it is done."""
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != of:
                continue
            if message["content"].get("execution_state") == "idle":
                return
            yield {"type": message["msg_type"], **message["content"]}

    def run(self, source: str, cell_id: str = "") -> list[dict[str, Any]]:
        """Run a cell; its messages but for the status."""
        sent = self.messages(self.start(source, cell_id))
        return [message for message in sent if message["type"] not in ("status", "execute_input")]


def errors(messages: list[dict[str, Any]]) -> list[list[str]]:
    """The lines of each error among a cell's messages."""
    return [message["traceback"] for message in messages if message["type"] == "error"]
