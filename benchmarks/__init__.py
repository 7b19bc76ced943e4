"""Figures of this project, measured side by side in one run: ``make bench``."""
