"""What comes back from a child is a claim: here it is bounded, decoded, and never believed."""

from __future__ import annotations

import sys
from typing import Any

from autograder import marking
from autograder.course import PlanCell
from autograder.marking import CellRun, Expectation


def checked(report: Any, cell: PlanCell, whole: bool) -> dict[str, Any]:
    """A frame is a claim: it must be of the cell that runs, and hold what a frame holds.

    Raises:
        BadValue: it is not.
    """
    if not isinstance(report, dict) or report.get("cell") != cell.id:
        raise marking.BadValue("a frame of another cell")
    values, outputs = report.get("values"), report.get("outputs")
    most = 1_000 if cell.role == "check" else 0
    if not isinstance(values, list) or len(values) > most:
        raise marking.BadValue("a malformed frame")
    if not isinstance(outputs, list) or len(outputs) > 1_000:
        raise marking.BadValue("a malformed frame")
    error = marking.decode(report.get("error"))
    if error is not None and not isinstance(error, marking.Raised):
        raise marking.BadValue("an error that is none")
    return {
        "cell": cell.id,
        "values": values if whole else [marking.decode(value) for value in values],
        "error": error,
        "outputs": [_output(item) for item in outputs],
        "edited": report.get("edited") is True,
    }


def _output(item: Any) -> dict[str, Any]:
    """One of nbformat's outputs, made anew from its known fields.

    Raises:
        BadValue: it is none. Data that isn't text (a widget's state, say) is left out.
    """
    kind = item.get("output_type") if isinstance(item, dict) else None
    if kind == "stream":
        return {"output_type": kind, "name": _text(item, "name"), "text": _text(item, "text")}
    if kind == "error":
        lines = item.get("traceback")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise marking.BadValue("a malformed output")
        names = {"ename": _text(item, "ename"), "evalue": _text(item, "evalue")}
        return {"output_type": kind, **names, "traceback": [_unicode(line) for line in lines]}
    data = item.get("data") if isinstance(item, dict) else None
    if kind not in ("display_data", "execute_result") or not isinstance(data, dict):
        raise marking.BadValue("a malformed output")
    texts = {_unicode(m): _unicode(text) for m, text in data.items() if isinstance(text, str)}
    made: dict[str, Any] = {"output_type": kind, "data": texts, "metadata": {}}
    if kind == "execute_result":
        count = item.get("execution_count")
        counts = type(count) is int and 0 <= count < 2**31
        made["execution_count"] = count if counts else None
    return made


_CUT = {
    "output_type": "stream",
    "name": "stdout",
    "text": "… outputs cut here: there was too much of them in this notebook\n",
}


def within(report: dict[str, Any], left: int) -> int:
    """Cut a checked report's outputs where they take more than the bytes that are left.

    Returns:
        What is left then; below 0 once something was cut.
    """
    texts = (
        text
        for item in report["outputs"]
        for text in (*item.values(), *item.get("data", {}).values(), *item.get("traceback", ()))
    )
    left -= sum(map(sys.getsizeof, texts))  # one rare character makes a text four times as large
    if left < 0:
        report["outputs"] = [_CUT]
    return left


def _text(item: dict[str, Any], field: str) -> str:
    text = item.get(field)
    if not isinstance(text, str):
        raise marking.BadValue("a malformed output")
    return _unicode(text)


def _unicode(text: str) -> str:
    """A text without halves of characters, which many libraries stop at."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def cell_run(report: dict[str, Any]) -> CellRun:
    """What marking needs of a checked report."""
    ended: marking.Ending = "ok" if report["error"] is None else "error"
    return CellRun(
        report["cell"],
        ended,
        tuple(report["outputs"]),
        tuple(report["values"]),
        report["error"],
        report["edited"],
    )


def expectation(data: dict[str, Any]) -> Expectation:
    """One expect call of a reference's run."""
    return Expectation(
        data["what"],
        marking.decode(data["expected"]),
        {name: marking.decode(value) for name, value in data["mistakes"]},
        {name: marking.decode(value) for name, value in data["accepted"]},
    )
