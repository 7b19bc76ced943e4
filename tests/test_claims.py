"""Frames that a learner's process may send: any JSON is taken apart, or refused as BadValue."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course import PlanCell
from autograder.engine import claims
from autograder.marking import BadValue, Raised

CELL = PlanCell("c", "check", "")
GOOD: dict[str, Any] = {
    "cell": "c",
    "error": ["raised", "ValueError", "x"],
    "values": [1, ["list", [2.5]]],
    "outputs": [
        {"output_type": "stream", "name": "stdout", "text": "a"},
        {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["t"]},
        {"output_type": "display_data", "data": {"text/plain": "1"}, "metadata": {}},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "1"},
            "metadata": {},
            "execution_count": 1,
        },
    ],
}
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cell", "error", "values", "outputs", "output_type", "data", "text"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def test_a_good_frame_is_a_cell_run() -> None:
    run = claims.cell_run(claims.checked(GOOD, CELL, whole=False))
    assert (run.cell, run.ended, run.values) == ("c", "error", (1, [2.5]))
    assert run.error == Raised("ValueError", "x")
    assert list(run.outputs) == GOOD["outputs"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cell", "d"),
        ("error", "text"),
        ("error", ["list", []]),
        ("values", None),
        ("values", [["unknown", 1]]),
        ("values", [1] * 1_001),
        ("outputs", [None]),
        ("outputs", [{}] * 1_001),
        ("outputs", [{"output_type": []}]),
        ("outputs", [{"output_type": "stream", "name": "stdout", "text": 1}]),
        ("outputs", [{"output_type": "error", "ename": "E", "evalue": "", "traceback": [1]}]),
        ("outputs", [{"output_type": "display_data", "data": []}]),
    ],
)
def test_a_malformed_frame_is_refused(field: str, value: object) -> None:
    with pytest.raises(BadValue):
        claims.checked({**GOOD, field: value}, CELL, whole=False)


def test_only_a_check_has_values() -> None:
    own = replace(CELL, role="own")
    with pytest.raises(BadValue):
        claims.checked(GOOD, own, whole=False)
    assert claims.checked({**GOOD, "values": []}, own, whole=False)["values"] == []


@pytest.mark.parametrize("text", ["a" * 60_000, "\U0001f600" + "a" * 15_000])
def test_outputs_are_cut_by_the_memory_that_they_take(text: str) -> None:
    kinds: list[dict[str, Any]] = [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": [text]},
        {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}},
    ]
    for output in kinds:
        left, kept = 200_000, 0
        for _ in range(9):
            report = {"outputs": [output]}
            left = claims.within(report, left)
            kept += report["outputs"] == [output]
        assert kept == 3
        assert "too much" in str(report["outputs"])


def test_a_frame_without_an_error_field_is_a_cell_without_error() -> None:
    frame = {name: value for name, value in GOOD.items() if name != "error"}
    assert claims.cell_run(claims.checked(frame, CELL, whole=False)).ended == "ok"


def test_data_that_is_no_text_and_strange_fields_are_left_out() -> None:
    data = {"text/plain": "1", "application/json": {"a": [1]}}
    item = {"output_type": "display_data", "data": data, "metadata": {"x": 1}, "strange": 1}
    (output,) = claims.checked({**GOOD, "outputs": [item]}, CELL, whole=False)["outputs"]
    assert output == {
        "output_type": "display_data",
        "data": {"text/plain": "1"},
        "metadata": {},
    }


def test_halves_of_characters_are_replaced() -> None:
    half = "<b>\ud800</b>"
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": half},
        {"output_type": "error", "ename": half, "evalue": half, "traceback": [half]},
        {"output_type": "display_data", "data": {"text/html": half, half: half}},
    ]
    report = claims.checked({**GOOD, "outputs": outputs}, CELL, whole=False)
    assert "\ud800" not in str(report)
    str(report).encode()


@pytest.mark.parametrize("count", [-1, 2**31, True, "1", 1.5])
def test_a_count_that_is_none_is_left_out(count: object) -> None:
    item = {"output_type": "execute_result", "data": {}, "execution_count": count}
    (output,) = claims.checked({**GOOD, "outputs": [item]}, CELL, whole=False)["outputs"]
    assert output["execution_count"] is None


@given(JSON | st.fixed_dictionaries(dict.fromkeys(("error", "values", "outputs"), JSON)))
def test_any_json_is_taken_apart_or_refused(frame: Any) -> None:
    if isinstance(frame, dict):
        frame.setdefault("cell", "c")
    with contextlib.suppress(BadValue):
        claims.cell_run(claims.checked(frame, CELL, whole=False))
