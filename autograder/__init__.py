"""Learn PyTorch hooks by doing, and grade a class that does."""

__version__ = "0.1.0"
