"""Where each attack of the list that this project set out with is tried (`ROWS`, 1 to 26).

A name is an attack of `tests/attacks/` ("files: reading"), one of `cheats.py`, or a test.
"""

from __future__ import annotations

ROWS: dict[str, list[str]] = {
    "1 override showtraceback": ["showtraceback patched"],
    "2 an input transformer": ["an input transformer"],
    "3 an AST transformer": ["an AST transformer"],
    "4 patch do_execute": ["do_execute patched"],
    "5 patch torch.equal, allclose, numpy.testing": [
        "torch.equal and allclose patched",
        "numpy.testing patched",
        "Tensor.__add__ patched",
    ],
    "6 objects that equal everything": [
        "an object that equals everything",
        "a list that equals everything",
        "floats that equal everything",
        "a tensor with __torch_function__",
    ],
    "7 expected values in the caller's frame, constants, gc": [
        "the caller's names",
        "the check's constants",
        "everything gc knows",
        "test_engine::test_no_reference_is_in_the_memory_that_children_inherit",
    ],
    "8 the test's source": ["the check's source in the history"],
    "9 skip-execution": ["skip-execution tags"],
    "10 a number before the assert": ["a number displayed before the assert"],
    "11 resubmit to keep old marks": [
        "test_grade::test_regrading_resets_marks_and_keeps_what_people_gave",
        "test_grade::test_an_old_mark_does_not_outlive_a_file_that_broke",
    ],
    "12 write the gradebook": ["files: writing the gradebook"],
    "13 exit, SIGKILL, segfault": [
        "os._exit",
        "SIGKILL of itself",
        "a segfault",
        "processes: ending before its time, with success",
    ],
    "14 forged frames, late threads, atexit": [
        "a forged frame",
        "a giant frame",
        "a nested frame",
        "a truncated frame",
        "late frames from a thread",
        "processes: something to do at the end, for ever",
        "network: the grader's own connections, by any number",
    ],
    "15 pickles": [
        "a value that is a program once it is unpickled",
        "test_claims::test_any_json_is_taken_apart_or_refused",
    ],
    "16 giant, NaN, nested, self-referring values": [
        "giant, nested and strange values",
        "floods: a value of many small things, each of which takes room in the grader",
        "floods: values that say they are larger than they are",
    ],
    "17 settrace, setprofile, IPython's events": [
        "a trace function",
        "a profiler",
        "an event of IPython",
        "expect replaced",
        "expect replaced in its module",
        "test_engine::test_transformers_and_hooks_of_ipython_do_not_reach_a_check",
    ],
    "18 hard-code the visible inputs": ["test_answers::test_answers"],
    "19 edited metadata, split, doubled, moved cells": [
        "test_course::test_a_changed_check_or_given_cell_is_the_masters",
        "test_course::test_the_plan_holds_every_check_once_whatever_happened",
        "test_course::test_a_split_or_copied_check_runs_once",
    ],
    "20 malformed files": [
        "test_course::test_a_file_that_is_no_notebook_has_a_reason",
        "test_course::test_any_bytes_are_a_notebook_or_have_a_reason",
        "test_grade::test_odd_submissions_stop_nobody",
    ],
    "21 links, slips and bombs in archives": [
        "test_intake::test_names_that_lead_elsewhere",
        "test_intake::test_links_in_a_zip",
        "test_intake::test_links_and_pipes_in_a_folder",
        "test_intake::test_a_bomb_that_is_unpacked_a_chunk_at_a_time",
        "test_intake::test_bombs",
        "test_grade::test_a_files_name_is_text_and_nothing_else",
    ],
    "22 scripts in feedback": [
        "test_safe::test_nothing_runs",
        "test_safe::test_nothing_runs_in_markdown",
        "test_formgrader::test_nothing_that_a_learner_wrote_runs",
    ],
    "23 loops without end": [
        "a loop that swallows everything",
        "a regex that holds the GIL",
        "processes: signals that are all ignored, and a loop",
        "test_engine::test_a_cell_without_end_costs_only_itself",
    ],
    "24 processes and threads without end": [
        "arguments: a process by fork",
        "arguments: a process that shares its memory",
        "arguments: keeping what its processes leave",
        "processes: a thread that never ends",
        "floods: threads",
    ],
    "25 floods": [
        "floods: memory",
        "floods: one large file",
        "floods: many large files",
        "floods: many small files",
        "floods: descriptors",
        "floods: output",
        "floods: output that goes around Python",
        "memory outside of all limits: memfd_create",
    ],
    "26 others' files, the grader, the network, the system": [
        "files: reading",
        "files: poisoning a library",
        "processes: the grader's environment",
        "arguments: killing the grader",
        "arguments: typing into the terminal of the grader",
        "arguments: calls by their numbers of another interface (x32)",
        "network: a connection to the grader's machine",
    ],
}
