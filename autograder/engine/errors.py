"""What the engine raises."""

from __future__ import annotations


class EngineError(RuntimeError):
    """The engine itself failed: no verdict can be given. The message says what to look at."""


class WorkerLost(EngineError):
    """A server that had been ready ended, or stopped to answer, while it ran a notebook."""


class FilesError(EngineError):
    """What lies beside a notebook is more than it may have."""
