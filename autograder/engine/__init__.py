"""Runs notebooks in warm worker processes, and hands back what was seen there as claims."""

from .errors import EngineError, FilesError, WorkerLost
from .limits import LimitError, Limits
from .outer import exposes
from .shipped import Files, read_files
from .starting import start_worker
from .tiers import MEANING, Tier, Wall, best, walls
from .worker import Worker

__all__ = [
    "MEANING",
    "EngineError",
    "Files",
    "FilesError",
    "LimitError",
    "Limits",
    "Tier",
    "Wall",
    "Worker",
    "WorkerLost",
    "best",
    "exposes",
    "read_files",
    "start_worker",
    "walls",
]
