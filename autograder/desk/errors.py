"""What the instructor's commands stop with."""


class GradingError(RuntimeError):
    """Nothing can be graded, or kept. The message names the next step."""


class GradebookError(GradingError):
    """The gradebook can't be used. The message says what to do."""


class GradebookGone(GradingError):
    """The gradebook was there, and no patience brought it back. What was graded is saved."""


class Stopped(GradingError):
    """Somebody pressed Ctrl-C. What was done by then is saved."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(
            f"stopped. {done} of {total} submissions are graded, and their marks saved. To go on, "
            "run the same command again"
        )
