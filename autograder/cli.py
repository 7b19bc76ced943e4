"""The ``autograder`` command: thin commands over the rooms of the house."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Course, CourseError, NotebookError
from autograder.desk.errors import GradingError, Stopped
from autograder.engine import EngineError, Limits, best

PROGRESS = "progress: "
"""What the lines on stderr begin with that say how far a check is."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code tells the truth (see each command's help)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a ✓ that the terminal can't show
    parser = _parser()
    args, more = parser.parse_known_args(argv)
    if args.run is _lab:
        args.jupyter = more
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except (CourseError, NotebookError, EngineError, GradingError) as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 130 if isinstance(error, Stopped) else 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        with contextlib.suppress(OSError):
            print(f"autograder: {where}{error.strerror or error}", file=sys.stderr)
        _let_go_of_stdout()
        return 2
    except KeyboardInterrupt:
        print("autograder: stopped", file=sys.stderr)
        return 130


def _let_go_of_stdout() -> None:
    """Where nobody takes the output, Python must not try again at exit (as its manual says)."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograder",
        description="Checks and grades the notebooks of the PyTorch hooks course.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lab = commands.add_parser(
        "lab",
        help="open the lessons in JupyterLab",
        description="Opens JupyterLab on the first page, or on the lesson that you are in the "
        "middle of. Other arguments go to `jupyter lab`, for example --no-browser or --port=9999.",
    )
    lab.add_argument(
        "--instructor",
        action="store_true",
        help="with nbgrader's panels for instructors: Formgrader, Create Assignment, lists",
    )
    lab.set_defaults(run=_lab)

    check = commands.add_parser(
        "check",
        help="run all checks on one notebook",
        description="Runs all checks, hidden ones included, on a notebook of this course; where "
        "the masters aren't on this machine, the visible checks only. Exit code 0: full marks; 1: "
        "a check does not pass; 2: it can't be read as this course's notebook; 3: the visible "
        "checks pass, and hidden tests could not run.",
    )
    check.add_argument("notebook", type=Path)
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    check.add_argument("--progress", action="store_true", help="say on stderr how far it is")
    _add_limits(check)
    _add_course(check)
    check.set_defaults(run=_check)

    build = commands.add_parser(
        "build",
        help="make the notebooks for learners from the masters",
        description="Proves each master and makes its release in notebooks/ with nbgrader. Exit "
        "code 0: done, or with --check nothing to do; 1: the release differs; 2: a master is "
        "refused.",
    )
    build.add_argument("lesson", nargs="*", help="default: all lessons")
    build.add_argument("--check", action="store_true", help="write nothing; tell what differs")
    build.add_argument("--force", action="store_true", help="write over work in notebooks/")
    _add_course(build)
    build.set_defaults(run=_build)

    grade = commands.add_parser(
        "grade",
        help="grade what a class handed in",
        description="Grades submitted/STUDENT/LESSON/ into nbgrader's gradebook. Exit code 0: "
        "every submission got a status of its own; 2: nothing could be graded, or a submission "
        "could not be kept.",
    )
    grade.add_argument("lesson", nargs="*", help="default: all lessons that were handed in")
    grade.add_argument(
        "--course",
        type=Path,
        metavar="DIR",
        help="the folder with submitted/ (default: the one around the working folder)",
    )
    grade.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the results as JSON too (a list where several lessons are graded)",
    )
    where = grade.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        type=_positive,
        default=0,
        metavar="N",
        help="notebooks that run at a time (default: cores); each takes about 300 MB of memory, "
        "and a notebook that fills all it may have up to 4 GB",
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run notebooks on the Dask cluster of this scheduler, as tcp://host:8786; its "
        "workers need this package, and nothing of the course",
    )
    grade.add_argument(
        "--figures",
        action="store_true",
        help="draw the lessons' pictures into autograded/ (takes three times as long); always done "
        "where a lesson has cells that people mark",
    )
    grade.add_argument(
        "--fresh",
        action="store_true",
        help="run also what did not change since it was graded",
    )
    grade.add_argument(
        "--unconfined",
        action="store_true",
        help="run notebooks even where nothing confines them: they can read and delete what you "
        "can (see `autograder doctor`)",
    )
    _add_limits(grade)
    grade.set_defaults(run=_grade)

    take = commands.add_parser(
        "take",
        help="take in a zip or a folder of what a class handed in",
        description="Puts STUDENT/LESSON/FILE of a zip file or a folder into submitted/. Links, "
        "hidden files, names that lead elsewhere or collide, and what is too large (200 MB for a "
        "file, 2 GB or 20,000 files in all) refuse all of it. Exit code 0: done; 2: nothing was "
        "taken in.",
    )
    take.add_argument("source", type=Path, help="the zip file or folder")
    take.add_argument(
        "--course",
        type=Path,
        metavar="DIR",
        help="the folder with submitted/ (default: the one around the working folder)",
    )
    take.set_defaults(run=_take)

    doctor = commands.add_parser(
        "doctor",
        help="tell how well notebooks are confined on this machine",
        description="Tries what confines notebooks here; tells what is missing and how to get it. "
        "Exit code 0: strangers' notebooks can be graded here; 1: they can't.",
    )
    doctor.set_defaults(run=_doctor)
    return parser


def _add_limits(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(f"{name} ({value:.10g})" for name, value in vars(Limits()).items())
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help=f"what one notebook may take; can be given several times. Limits are {names}",
    )


def _add_course(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--course",
        type=Path,
        metavar="DIR",
        help="the course folder (default: the one around the notebook or the working folder)",
    )


def _find_course(args: argparse.Namespace) -> Course:
    if args.course:
        return Course(args.course.resolve())
    return Course.around(Path.cwd())


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _lab(args: argparse.Namespace) -> int:
    from autograder.desk import open_lab

    root = open_lab.find_root(Path.cwd())
    open_lab.run(root, args.jupyter, instructor=args.instructor)


def _grade(args: argparse.Namespace) -> int:
    from autograder.desk import files, grading, pool, report, settings, stopping
    from autograder.desk.pool import LocalPool, Pool, Setup
    from autograder.desk.progress import LOG, Progress

    root = args.course.resolve() if args.course else grading.find_root(Path.cwd())
    run = grading.Grading(root, args.lesson)
    if not os.access(root, os.W_OK):
        raise GradingError(f"{root}: this account may not write there, where the marks go")
    unconfined = args.unconfined or root == pool.EXAMPLES
    if not (unconfined or args.dask or best() in pool.CONFINED):
        raise GradingError(pool.unconfined(best()))
    if exposed := pool.exposed(root):
        raise GradingError(exposed)
    limits = settings.limits(root, args.limit)
    for what in run.misplaced:
        print(f"{grading.SUBMITTED}/{what}: left alone", file=sys.stderr)
    if args.json:
        files.must_be_writable(args.json)  # not after an hour

    def make_pool(setup: Setup, tasks: int) -> Pool:
        if args.dask:
            from autograder.desk.cluster import DaskPool

            made: Pool = DaskPool(args.dask, setup)
        else:
            made = LocalPool(min(args.jobs or grading.default_jobs(), tasks), setup)
        progress.say(f"{made.size} notebooks at a time")
        return made

    progress = Progress(root / LOG)
    progress.start(len(run.work))
    how = "stopped"
    try:
        # Who marks by hand may have to look at pictures.
        figures = args.figures or any(master.hand_points for master in run.masters)
        setup = Setup(limits, figures, unconfined)
        with stopping.once():
            lessons = run.run(progress, setup, make_pool, fresh=args.fresh)
        how = "done"
    except (GradingError, EngineError) as error:
        how = f"stopped: {error}"
        raise
    finally:
        progress.end(how)
    for graded in lessons:
        print(report.table(graded))
    tiers = {result.tier for graded in lessons for result in graded.results if result.tier}
    for tier in sorted(tiers):
        print(f"confinement: tier {tier} (`autograder doctor` says what that means)")
    report.write_csv(root / report.GRADES, lessons)
    if args.json:
        found = [graded.as_json() for graded in lessons]
        text = json.dumps(found[0] if len(found) == 1 else found, indent=1)
        files.write_named(args.json, text + "\n")
    print(report.places(root, run.gradebook))
    failed = any(result.status == "not graded" for graded in lessons for result in graded.results)
    return 2 if failed else 0


def _build(args: argparse.Namespace) -> int:
    from autograder.desk import first_page, proofs, release
    from autograder.engine import start_worker

    found = _find_course(args)
    refused = differs = False
    with start_worker(brief=True) as worker:
        for lesson in args.lesson or found.lessons():
            master = found.master(lesson)
            findings = proofs.findings(master, worker)
            for finding in findings:
                print(f"{master.path}: {finding}", file=sys.stderr)
            refused |= bool(findings)
            if findings:
                continue
            files = release.build(found, lesson)
            changed = release.differing(found, lesson, files)
            differs |= bool(changed)
            work = [] if args.check or args.force else release.worked_on(found, lesson)
            if work:
                print(
                    f"{found.root / release.RELEASE / lesson}: somebody's work is in {work[0]!r}; "
                    "move the notebook away, or write over it with --force",
                    file=sys.stderr,
                )
                refused = True
                continue
            if not args.check:
                release.write(found, lesson, files)
            for name in changed:
                print(f"{name} {'differs from its master' if args.check else 'written'}")
            if not changed:
                print(f"{lesson}: the release is up to date")
    page = None if refused else first_page.make(found)
    if page and not first_page.is_up_to_date(found, page):
        differs = True
        if not args.check:
            first_page.write(found, page)
        print(f"{first_page.PATH} {'differs from its master' if args.check else 'written'}")
    if refused:
        return 2
    return 1 if args.check and differs else 0


def _take(args: argparse.Namespace) -> int:
    from autograder.desk import grading, intake

    root = args.course.resolve() if args.course else grading.find_root(Path.cwd())
    if not root.is_dir():
        raise GradingError(f"{root}: there is no such folder; name the course's with --course")
    lessons = Course.around(root).lessons()
    for place in intake.take_in(args.source, root / grading.SUBMITTED, lessons):
        print(f"{grading.SUBMITTED}/{place}")
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from autograder.desk import doctor

    text, fine = doctor.report()
    print(text)
    return 0 if fine else 1


def _check(args: argparse.Namespace) -> int:
    from autograder.desk import checking

    def tell(text: str) -> None:
        if args.progress:
            print(f"{PROGRESS}{text}", file=sys.stderr, flush=True)

    def warn(text: str) -> None:
        print(f"note: {text}", file=sys.stderr, flush=True)

    root = args.course.resolve() if args.course else None
    checked = checking.check(args.notebook, root, tell, args.limit, warn)
    if args.json:
        print(json.dumps(checked.as_json(), indent=1))
    else:
        print("\n".join(checked.lines()))
    return checked.exit_code
