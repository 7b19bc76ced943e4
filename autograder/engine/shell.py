"""An IPython shell that keeps what cells show, as ordered and bounded nbformat outputs."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .limits import Limits


class Outputs:
    """The outputs of the cell that runs now."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.start()

    def start(self) -> None:
        """Begin a cell."""
        self.items: list[dict[str, Any]] = []
        self._text, self._data = self._limits.output_chars, self._limits.data_chars
        self._pending_clear = False

    def _full(self, text: int = 0, data: int = 0) -> bool:
        """Whether an output of this size is over a limit; says so once."""
        if self._pending_clear:
            self.start()
        self._text -= text
        self._data -= data
        if len(self.items) < self._limits.outputs and min(self._text, self._data) >= 0:
            return False
        note = "… output cut here: there was too much of it\n"
        if not (self.items and self.items[-1].get("text") == note):
            self.items.append({"output_type": "stream", "name": "stdout", "text": note})
        self._text = -1
        return True

    def stream(self, name: str, text: str) -> None:
        if not text or self._full(text=len(text)):
            return
        if self.items and self.items[-1].get("name") == name:
            self.items[-1]["text"] += text
        else:
            self.items.append({"output_type": "stream", "name": name, "text": text})

    def data(self, data: dict[str, Any], metadata: dict[str, Any], count: int | None) -> None:
        if self._full(data=sum(len(value) for value in data.values() if isinstance(value, str))):
            return
        item: dict[str, Any] = {"output_type": "display_data", "data": data, "metadata": metadata}
        if count is not None:
            item |= {"output_type": "execute_result", "execution_count": count}
        self.items.append(item)

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        lines = [line[:2_000] for line in traceback[-40:]]
        item = {"output_type": "error", "ename": name, "evalue": value[:2_000], "traceback": lines}
        if not self._full():
            self.items.append(item)

    def clear(self, wait: bool) -> None:
        if wait:
            self._pending_clear = True
        else:
            self.start()


class Stream:
    """What stands for ``sys.stdout`` and ``sys.stderr``."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name = f"<{name}>"
        self._name = name
        self._outputs = outputs

    def write(self, text: str) -> int:
        self._outputs.stream(self._name, str(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("this stream has no file descriptor")


class _Publisher(DisplayPublisher):
    def publish(self, data: Any, metadata: Any = None, *args: Any, **kwargs: Any) -> None:
        self.shell.outputs.data(dict(data), dict(metadata or {}), None)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear(wait)


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    shell: Shell

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.outputs.data(dict(format_dict), dict(md_dict or {}), self.prompt_count)

    def finish_displayhook(self) -> None:
        self._is_active = False


class Shell(InteractiveShell):
    """IPython's semantics (magics, display, top-level await) without terminal, history or GUI."""

    outputs: Outputs
    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)

    @classmethod
    def start(cls) -> Shell:
        """The process's one shell. The server makes it, so that children need not."""
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        config.InteractiveShell.xmode = "Plain"  # Context takes 30 times as long
        shell = cls.instance(config=config)
        shell.outputs = Outputs(Limits())
        return shell

    def enable_gui(self, gui: str | None = None) -> None:
        """There is none; ``%matplotlib inline`` asks for it all the same."""

    def _showtraceback(self, etype: type[BaseException], evalue: object, stb: list[str]) -> None:
        try:
            text = str(evalue)
        except Exception:  # a learner's own __str__
            text = ""
        self.outputs.error(etype.__name__, text, list(stb))

    def ask_exit(self) -> None:
        """What ``exit()`` calls; a notebook's process ends with its last cell only."""
        raise SystemExit

    def capture(self, limits: Limits) -> None:
        """Send everything printed from now on to the outputs."""
        self.outputs = Outputs(limits)
        sys.stdout = Stream("stdout", self.outputs)
        sys.stderr = Stream("stderr", self.outputs)


def refuse_input(prompt: object = "", /) -> str:
    """Stands for ``input``."""
    raise StdinNotImplementedError("input() can't be answered while a notebook is checked")
