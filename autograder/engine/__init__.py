"""Runs notebooks in warm worker processes, and hands back what was seen there as claims."""

from .limits import Limits
from .worker import EngineError, Worker, WorkerLost

__all__ = ["EngineError", "Limits", "Worker", "WorkerLost"]
