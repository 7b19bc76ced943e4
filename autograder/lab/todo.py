"""What stands in an answer cell until the learner has written something."""

from __future__ import annotations


class Todo(NotImplementedError):
    """Raised by an exercise that is still a TODO. Shown as one line, not as a traceback."""

    def _render_traceback_(self) -> list[str]:
        return ["Still a TODO: write your code in place of `raise Todo`, then run its cell again."]
