"""JupyterLab for the course; `autograder lab` starts it with these settings."""

import logging
import os
import webbrowser
from pathlib import Path

import zmq

c = get_config()  # noqa: F821  (traitlets puts it here when it reads this file)

c.ServerApp.root_dir = str(Path.cwd())
c.LabApp.default_url = os.environ.get("AUTOGRADER_FIRST_PAGE", "/lab")
# The tabs that were open are kept in the course's folder: JupyterLab would look for those of
# another folder in vain here, and the other way round.
if os.access(".", os.W_OK):
    c.LabApp.workspaces_dir = str(Path(".jupyter/workspaces").resolve())

# As root, which is what containers run as, Jupyter would refuse to start.
c.ServerApp.allow_root = True
c.ServerApp.answer_yes = True  # Ctrl-C stops it at once
try:
    webbrowser.get()
except webbrowser.Error:
    c.ServerApp.open_browser = False  # it would warn that there is none

# The terminal shows where JupyterLab is, and what goes wrong; nothing else.
c.Application.log_level = "WARN"
c.Application.log_format = "%(message)s"
NO_NEWS = (
    "Notebook %s is not trusted",  # any from elsewhere; JupyterLab shows it by a shield
    "The websocket_ping_timeout",  # jupyter_server's own defaults, which tornado adapts
)


def is_news(record: logging.LogRecord) -> bool:
    """Whether a message can tell a learner anything."""
    return not str(record.msg).startswith(NO_NEWS)


c.Application.logging_config = {
    "filters": {"news": {"()": lambda: is_news}},
    "handlers": {"console": {"filters": ["news"]}},
}
if zmq.has("curve"):  # each kernel would warn that it talks unencrypted
    c.KernelManager.transport_encryption = "auto"
