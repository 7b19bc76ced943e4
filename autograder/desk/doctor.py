"""What confines notebooks on this machine: tried here and now, and told."""

from __future__ import annotations

import sys

from autograder.course import Plan, PlanCell
from autograder.engine import MEANING, EngineError, Tier, Worker, best, walls

from .pool import CONFINED

_PLAN = Plan("doctor", (PlanCell("try", "own", "1 + 1"),))


def report() -> tuple[str, bool]:
    """The report, and whether strangers' notebooks can run here."""
    tier = best()
    lines = [f"tier {tier}: {MEANING[tier]}", ""]
    for wall in walls():
        lines.append(f"{'✓' if wall.works else '✗'} {wall.name}: {wall.says}")
        if wall.remedy and not wall.works:
            lines.append(f"    to get it: {wall.remedy}")
    fine = tier in CONFINED
    trouble = _try(tier) if sys.platform == "linux" else ""
    if trouble:
        lines.append(f"✗ a notebook: {trouble}")
        fine = False
    elif sys.platform == "linux":
        tried = ": what it must not do was tried in it, and failed" if fine else ""
        lines.append(f"✓ a notebook ran{tried}")
    lines.append("")
    if trouble:
        lines.append(
            "`autograder grade` can run nothing here, whatever it is told: mend the line above"
        )
    elif fine:
        lines.append("`autograder grade` runs strangers' notebooks here")
    else:
        lines.append(
            "`autograder grade` needs --unconfined here: use it for notebooks that you trust"
        )
    return "\n".join(lines), fine


def _try(tier: Tier) -> str:
    """Run a notebook; what went wrong."""
    try:
        with Worker(warm=(), tier=tier) as worker:
            seen = worker.run(_PLAN, "doctor")
    except EngineError as error:
        return str(error)
    return "; ".join(seen.trouble)
