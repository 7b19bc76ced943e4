"""Values as they are compared, and what is said of a difference."""

from __future__ import annotations

import json
import string
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from autograder import marking
from autograder.marking import (
    BadValue,
    CellRun,
    Expectation,
    Other,
    Outcome,
    Raised,
    Sentence,
    WordsError,
    at_least,
    at_most,
    decide,
    decode,
    encode,
    freeze,
    is_plain,
    judge,
    observe,
    one_of,
    raised,
    same,
    show,
)
from autograder.marking.words import parse

WORDS = marking.shared()
NAN, INF = float("nan"), float("inf")


def t(*values: float, **options: Any) -> torch.Tensor:
    return torch.tensor(values, **options)


def alike(actual: object, expected: object) -> bool:
    return same(freeze(actual), freeze(expected))


# --- compare -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (t(1.0, 2.0), t(1.0, 2.0)),
        (t(1.0), t(1.000001)),
        (t(1e6), t(1e6 + 5)),
        (t(0.0), t(1e-7)),
        (t(1.0), t(1.0, dtype=torch.float64)),  # the kind of dtype counts
        (t(1.000005), t(1.0, dtype=torch.float64)),
        (t(1.004), t(1.0, dtype=torch.bfloat16)),
        (t(1.001), t(1.0, dtype=torch.float16)),
        (t(1, 2), t(1, 2, dtype=torch.int8)),
        (t(True, False), t(True, False)),
        (t(1 + 2j), t(1 + 2j)),
        (nn.Parameter(t(5.0)), t(5.0)),
        (t(1.0, requires_grad=True), t(1.0)),
        (t(NAN, 1.0), t(NAN, 1.0)),
        (t(INF, -INF), t(INF, -INF)),
        (t(), t()),
        (NAN, NAN),
        (INF, INF),
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (10**40, 10**40),
        ("a", "a"),
        (None, None),
        (True, True),
        ([t(1.0), (2, "a")], [t(1.0), (2, "a")]),
        ({"a": [t(1.0)], 1: None}, {1: None, "a": [t(1.0)]}),
        (t(2.0), one_of(t(1.0), t(2.0))),
        ([2, 5], [one_of(1, 2), at_most(5)]),
        (5, at_most(5)),
        (5.5, at_least(5)),
        (t(1.0).conj(), t(1.0)),
        (torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j])),
        (torch._neg_view(t(1.0)), t(-1.0)),
        (t(1.0, 2.0, 3.0, 4.0)[::2], t(1.0, 3.0)),
    ],
)
def test_same(actual: object, expected: object) -> None:
    assert alike(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (t(1.0, 2.0), t(2.0, 1.0)),
        (t(1.0), t(1.0001)),
        (t(1.0, dtype=torch.float64), t(1.00001, dtype=torch.float64)),
        (t(1.0, dtype=torch.bfloat16), t(1.004)),  # coarse answers are not taken less strictly
        (t(1.0, dtype=torch.float16), t(1.001)),
        (t(1.0), t(1)),
        (t(1), t(True)),
        (t(1.0), t(1 + 0j)),
        (t(1.0), torch.tensor(1.0)),
        (t(1.0), t(1.0, 1.0)),
        (t(), torch.empty(0, 3)),
        (t(NAN), t(1.0)),
        (t(1.0), t(NAN)),
        (t(INF), t(-INF)),
        (t(INF), t(1e38)),
        (NAN, 1.0),
        (1.0, NAN),
        (True, 1),
        (1, True),
        (t(1.0), 1.0),
        (1.0, t(1.0)),
        ([1], (1,)),
        ([1, 2], [1]),
        ([], ()),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({True: "a"}, {1: "a"}),
        ({1: 1}, {2: 1}),
        ("1", 1),
        (None, 0),
        (3, one_of(1, 2)),
        (3, one_of()),
        (6, at_most(5)),
        (4, at_least(5)),
        (NAN, at_most(5)),
        (NAN, at_least(5)),
        (True, at_most(5)),
        (t(1.0), at_most(5)),
        (10**200, 1.5),
        (torch.Size([1]), (1,)),
        (np.float64(1.0), 1.0),
        (np.ones(1), t(1.0)),
        (object(), object()),
    ],
)
def test_not_same(actual: object, expected: object) -> None:
    assert not alike(actual, expected)


def test_what_cannot_be_compared_equals_nothing_not_even_itself() -> None:
    for thing in (Other("set"), freeze({1})):
        assert not same(thing, thing)
        assert not same([thing], [thing])


# --- freeze: whatever a learner builds -----------------------------------------------------------


class Liar(type):
    """A metaclass whose classes say yes to everything, or raise."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1

    @property
    def __name__(cls) -> str:
        raise RuntimeError("no name")

    def __instancecheck__(cls, other: object) -> bool:
        raise RuntimeError


def hostile_class() -> Any:
    class Hostile(metaclass=Liar):
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            raise RuntimeError

        __class__ = property(lambda self: torch.Tensor)  # type: ignore[assignment]

    return Hostile


def hostile() -> Any:
    return hostile_class()()


class Everything(float):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__

    def __sub__(self, other: object) -> float:
        return 0.0

    __rsub__ = __abs__ = __sub__  # type: ignore[assignment]


class Items(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        raise RuntimeError


class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("hostile")


class Text(str):
    def __getitem__(self, index: Any) -> str:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


def self_referring() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def doubled(times: int) -> list[Any]:
    """2 ** times leaves, in little memory."""
    value: list[Any] = [1]
    for _ in range(times):
        value = [value, value]
    return value


def generator() -> Any:
    yield 1


STRANGE: list[Callable[[], Any]] = [
    hostile,
    hostile_class,
    lambda: Everything(1.0),
    lambda: Items([1, 2]),
    lambda: [Items([1])],
    lambda: t(1.0).as_subclass(Sub),
    lambda: Text("a"),
    lambda: {Text("a"): 1},
    lambda: {(1, 2): 1},
    lambda: {"k" * 5_000: 1},
    lambda: {10**400: 1},
    lambda: {i: i for i in range(5_000)},
    generator,
    lambda: map(abs, [1]),
    lambda: {1, 2},
    lambda: b"bytes",
    lambda: 1j,
    lambda: range(10**12),
    lambda: 10**5_000,
    lambda: "x" * 10_000_000,
    lambda: [0] * 3_000_000,
    lambda: [[0] * 1_999] * 1_999,
    lambda: (None,) * 3_000_000,
    self_referring,
    lambda: nested(100_000),
    lambda: doubled(40),
    lambda: t(1.0).expand(10**10),
    lambda: torch.empty(0, 10**12),
    lambda: torch.ones(2, 2).to_sparse(),
    lambda: torch.ones(2, device="meta"),
    lambda: torch.nested.nested_tensor([t(1.0), t(1.0, 2.0)]),
    lambda: torch.quantize_per_tensor(t(1.0), 0.1, 0, torch.quint8),
    lambda: torch.ones(2, dtype=torch.complex32),
    lambda: torch.Size([1]),
    lambda: np.ones(3),
    lambda: np.float64(1),
    lambda: nn.Linear(1, 1),
    lambda: t,
    lambda: ValueError("x"),
    lambda: at_most(Everything(1.0)),
    lambda: at_most("x"),  # type: ignore[arg-type]
    lambda: one_of(hostile()),
    lambda: marking.Tensor("float32", hostile()),
    lambda: marking.Tensor(Text("float32"), np.ones(1, "float32")),
    lambda: Raised(Text("Todo"), hostile()),  # type: ignore[arg-type]
    lambda: Other(hostile()),  # type: ignore[arg-type]
]


@pytest.mark.filterwarnings("ignore")  # prototypes of torch and numpy
@pytest.mark.parametrize("make", STRANGE)
@pytest.mark.timeout(60)
def test_freeze_takes_anything_in_bounded_time_and_it_equals_nothing(
    make: Callable[[], Any],
) -> None:
    value = make()
    frozen = freeze(value)
    text = json.dumps(encode(frozen))
    back = decode(json.loads(text))
    for wanted in (t(1.0), [1, 2], 1.0, "a", {"a": 1}, None, at_most(5), one_of(1, t(1.0))):
        outcome = judge(frozen, Expectation("it", freeze(wanted)), WORDS)
        assert not outcome.passed
        assert len(outcome.line) < 1_001
        assert outcome == judge(back, Expectation("it", freeze(wanted)), WORDS)
    assert len(text) < 8_000_000


def test_freeze_keeps_what_is_left_beside_something_too_large() -> None:
    frozen = freeze([t(1.0).expand(10**10), t(2.0)])
    assert frozen[0] == Other("Tensor", "too large: shape (10000000000,)")
    assert same(frozen[1], freeze(t(2.0)))


def test_freeze_copies() -> None:
    live = [t(1.0), [2]]
    frozen = freeze(live)
    live[0].add_(1)
    live[1].append(3)
    assert same(frozen, freeze([t(1.0), [2]]))


def test_a_patched_torch_gives_no_foreign_array(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("detach", "numpy", "cpu"):
        for lie in (lambda self: hostile(), lambda self: t(7.0, 8.0)):
            with monkeypatch.context() as patch:
                patch.setattr(torch.Tensor, name, lie)
                frozen = freeze(t(1.0))
            assert isinstance(frozen, Other)
            assert decode(encode(frozen)) == frozen


def test_raised_is_an_exact_copy() -> None:
    class Loud(Exception):
        def __str__(self) -> str:
            raise SystemExit

    class Named(Exception):
        def __str__(self) -> str:
            return Text("words")

    assert raised(Loud()) == Raised("Loud", "")
    assert raised(Named()) == Raised("Named", "words")
    assert type(raised(Named()).message) is str
    assert len(raised(ValueError("x" * 10**6)).message) < 10_000


def test_observe_calls_functions_only_and_catches_what_they_raise() -> None:
    assert observe(lambda: 3) == 3
    assert isinstance(observe(nn.Linear(1, 1)), Other)  # callable, but not for us

    def leave() -> None:
        raise SystemExit(0)

    assert observe(leave) == Raised("SystemExit", "0")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(stop)


# --- encode and decode ---------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**1023) + 1, 2**1023 - 1),
    st.floats(),
    st.text(max_size=30),
    st.text(st.characters(), max_size=5),  # lone surrogates, too
)
TENSORS = st.builds(
    lambda dtype, shape, seed: (
        torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 9
    ).to(dtype),
    st.sampled_from(
        [
            *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64),
            *(torch.uint8, torch.uint16, torch.bool, torch.complex64, torch.float8_e4m3fn),
        ]
    ),
    st.lists(st.integers(0, 3), max_size=4),
    st.integers(0, 9),
)
KEYS = st.one_of(st.text(max_size=9), st.integers(), st.booleans(), st.none())
VALUES = st.recursive(
    st.one_of(SCALARS, TENSORS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.lists(inner, max_size=3).map(lambda options: one_of(*options)),
    ),
    max_leaves=25,
)


def identical(one: Any, two: Any) -> bool:
    """Equal to the bit, with NaN equal to itself."""
    return json.dumps(encode(one)) == json.dumps(encode(two))


@settings(deadline=None, max_examples=150)
@given(VALUES)
def test_what_was_frozen_comes_back_through_json(value: Any) -> None:
    frozen = freeze(value)
    assert identical(decode(json.loads(json.dumps(encode(frozen)))), frozen)
    assert len(show(frozen)) <= 160
    show(frozen).encode()  # can be written anywhere


@pytest.mark.parametrize(
    "value",
    [
        [0] * 2_000,
        {i: i for i in range(1_000)},
        torch.zeros(999_999),
        torch.zeros(1_999_999, dtype=torch.int16),
        torch.zeros(900_000, dtype=torch.bfloat16),
        torch.ones([1] * 60),
        torch.empty(0, 4_000_000),
        nested(15),
        ["x" * 2_000] * 1_900,
        2**1023 - 1,
        Raised("E" * 100, "m" * 2_000),
    ],
)
def test_the_largest_that_can_be_frozen_can_be_decoded(value: Any) -> None:
    frozen = freeze(value)
    assert is_plain(frozen)
    assert identical(decode(json.loads(json.dumps(encode(frozen)))), frozen)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=9),
        st.sampled_from(
            ["list", "tuple", "dict", "tensor", "one_of", "at_least", "other", "float32", "AAAA"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
        st.builds(
            lambda tag, rest: [tag, *rest],
            st.sampled_from(["list", "tuple", "dict", "one_of", "tensor", "raised", "at_most"]),
            st.lists(inner, max_size=4),
        ),
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=200)
@given(JSON)
def test_decode_raises_nothing_but_bad_value(data: Any) -> None:
    try:
        value = decode(data)
    except BadValue:
        return
    assert identical(decode(encode(value)), value)
    judge(value, Expectation("it", freeze([t(1.0, 2.0), 3])), WORDS)
    judge(freeze([t(1.0)]), Expectation("it", value), WORDS)


def deep_json(depth: int) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = ["list", [data]]
    return data


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        [[]],
        ["no_such", 1],
        ["list"],
        ["list", 1],
        ["list", [], []],
        ["dict", [[1]]],
        ["dict", [[["list", []], 1]]],
        ["raised", "E"],
        ["raised", "E", 1],
        ["at_most", True],
        ["at_most", "1"],
        ["at_most", 10**4000],
        10**4000,
        "x" * 2_001,
        ["list", [0] * 2_001],
        ["dict", [[i, 0] for i in range(1_001)]],
        ["list", ["x" * 2_000] * 2_001],
        deep_json(18),
        deep_json(400),
        ["tensor", "float32", [1], "AAAA"],
        ["tensor", "float32", [1], "AAAAA==="],
        ["tensor", "float32", [1], "AAAAé==="],
        ["tensor", "float32", [-1], ""],
        ["tensor", "float32", [True], "AAAAAA=="],
        ["tensor", "float32", [1.0], "AAAAAA=="],
        ["tensor", "object", [1], "AAAAAA=="],
        ["tensor", ["float32"], [1], "AAAAAA=="],
        ["tensor", "float32", [10**9], ""],
        ["tensor", "float32", [10**6, 10**6, 10**6], ""],
        ["tensor", "float32", [0] * 65, ""],
        ["tensor", "float32", [1], 5],
        ["tensor", "float32", [1], "A" * 20_000_000],
    ],
)
@pytest.mark.timeout(60)
def test_decode_refuses_at_once(data: Any) -> None:
    with pytest.raises(BadValue):
        decode(data)


@pytest.mark.timeout(60)
def test_forged_values_are_judged_in_bounded_time() -> None:
    many = ["list", [["tensor", "float32", [1], "AACAPw=="]] * 2_000]
    value = decode(many)
    outcome = judge(value, Expectation("it", freeze([t(float(i)) for i in range(2_000)])), WORDS)
    assert not outcome.passed


# --- differences: each generic mistake by a natural one ------------------------------------------

A, B, C = t(1.5), t(2.5), t(4.0, 7.0)

DIFFERENCES: list[tuple[str, object, object]] = [
    ("swapped", [B, A], [A, B]),
    ("swapped", (3, 1, 2), (1, 2, 3)),
    ("nested", [[A, B]], [A, B]),
    ("nested", [(A, B)], [A, B]),
    ("nested", [(A,), (B,)], [A, B]),
    ("nested", (A,), A),
    ("nested", [A], A),
    ("nothing", [], [A, B]),
    ("nothing", {}, {"a": 1}),
    ("missing_items", [A], [A, B]),
    ("missing_items", [A, B], [A, B, A + B]),
    ("extra_items", [A, B, C], [A, B]),
    ("stored_again", [A, B, A, B], [A, B]),
    ("stored_again", [A, A, B, B], [A, B]),
    ("stored_again", [A, A, A], [A]),
    ("too_many", 3, 2),
    ("too_many", 3, at_most(2)),
    ("too_few", 1, 2),
    ("too_few", 1.5, at_least(2)),
    ("missing_keys", {"a": 1}, {"b": 1}),
    ("scalar_for_tensor", 1.5, A),
    ("scalar_for_tensor", [1.5, 2.5], [A, B]),
    ("tensor_for_number", A, 1.5),
    ("tensor_for_number", A, at_most(3)),
    ("wrong_type", A, [A, B]),
    ("wrong_type", (A, B), [A, B]),
    ("wrong_type", [], ()),
    ("wrong_type", "1.5", A),
    ("wrong_type", [B], A),
    ("wrong_type", [A], {"a": 1}),
    ("wrong_type", "2", 2),
    ("wrong_type", True, 2),
    ("wrong_type", 1, True),
    ("wrong_type", A, None),
    ("wrong_type", 1, "one"),
    ("wrong_shape", t(1.5, 1.5), A),
    ("wrong_shape", torch.tensor(1.5), A),
    ("wrong_dtype", t(1), A),
    ("wrong_dtype", t(True), A),
    ("constant_factor", 3 * C, C),
    ("constant_factor", -C, C),
    ("constant_factor", [2 * A, 2 * B], [A, B]),
    ("constant_offset", C + 5, C),
    ("constant_offset", [A + 5, B + 5], [A, B]),
    ("item_shape", [A, t(1.5, 1.5)], [A, B]),
    ("item_factor", [A, 3 * C], [A, C]),
    ("item_factor", (-C, B), (C, B)),
    ("item_offset", [A, C + 5], [A, C]),
    ("constant_factor", [3 * C], [C]),
    ("none", None, A),
    ("none", [None, B], [A, B]),
    ("none", None, 2),
    ("not_plain", {1, 2}, [A]),
    ("array_for_tensor", np.ones(1), A),
    ("array_for_tensor", [A, np.ones(1)], [A, B]),
    ("not_plain", np.ones(1), [A]),
    ("not_plain", (x for x in (A, B)), [A, B]),
    ("not_plain", [torch.Size([1])], [(1,)]),
    ("not_plain", one_of(A), A),
    ("not_plain", at_most(1), 1),
    ("too_large", [A] * 3_000, [A]),
    ("too_large", A.expand(10**9), A),
    ("not_finite", t(NAN), A),
    ("not_finite", t(INF), A),
    ("not_finite", NAN, 1.5),
    ("not_finite", INF, 1.5),
    ("not_finite", NAN, at_most(3)),
    ("different", t(9.0), A),
    ("different", 1.25, 1.5),
    ("different", "b", "a"),
    ("different", False, True),
    ("different", t(4), t(5)),
    ("different", t(7.0, 4.0), C),
    ("different", [t(8.0), t(1.0)], [A, B]),
    ("different", t(1.00005, 2.0001), t(1.0, 2.0)),  # not "1 times what it should be"
    ("different", {"a": "x"}, {"a": "y"}),
    ("different", 3, one_of()),
]


@pytest.mark.parametrize(("name", "actual", "expected"), DIFFERENCES)
def test_a_difference_has_a_name(name: str, actual: object, expected: object) -> None:
    outcome = judge(freeze(actual), Expectation("it", freeze(expected)), WORDS)
    assert (outcome.passed, outcome.mistake) == (False, name)
    assert "$" not in outcome.says, "a parameter of the sentence is not filled in"
    assert "\n" not in outcome.line


def test_an_empty_sequence_of_another_type_is_no_matter_of_missing_items() -> None:
    outcome = judge(freeze(()), Expectation("it", []), WORDS)
    assert outcome.mistake == "wrong_type"


def test_no_sentence_tells_the_expected_value() -> None:
    digits = "31415926"
    secrets = [
        t(3.1415926),
        t(3.1415926, 3.1415926),
        [t(3.1415926), t(31.415926)],
        31415926,
        3.1415926,
        "31415926",
        {"31415926": 3.1415926},
        one_of(31415926, 3.1415926),
        at_most(31415926),
        at_least(31415926.5),
        (31415926,),
        torch.full((2, 3), 3.1415926),
        torch.tensor(31415926),
    ]
    seen = [value for _, value, _ in DIFFERENCES if not hasattr(value, "send")]
    for secret in secrets:
        for value in seen:
            outcome = judge(freeze(value), Expectation("it", freeze(secret)), WORDS)
            text = outcome.line.replace(".", "").replace("'", "")
            assert digits[:5] not in text, outcome.line


# --- exceptions: provoked for real ---------------------------------------------------------------


class Add(nn.Module):
    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        return torch.add(x1, x2)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(t(5.0))

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        return x1 * x2 * self.W


class Todo(NotImplementedError):
    pass


class StdinNotImplementedError(NotImplementedError):
    """What IPython raises for input(); the real one is used in test_expect.py."""


def hooked(register: str, hook: Any, module: nn.Module | None = None) -> Callable[[], Any]:
    def run() -> Any:
        add = module or Add()
        getattr(add, register)(hook)
        return add(t(2.0), t(3.0))

    return run


def before(hook: Any) -> Callable[[], Any]:
    return hooked("register_forward_pre_hook", hook)


def after(hook: Any) -> Callable[[], Any]:
    return hooked("register_forward_hook", hook)


def backward(hook: Any, register: str = "register_full_backward_hook") -> Callable[[], Any]:
    def run() -> None:
        model = Model()
        getattr(model, register)(hook)
        model(t(2.0, requires_grad=True), t(3.0, requires_grad=True)).backward()

    return run


def on_tensor(hook: Any) -> Callable[[], Any]:
    def run() -> None:
        model = Model()
        model.W.register_hook(hook)
        model(t(2.0, requires_grad=True), t(3.0, requires_grad=True)).backward()

    return run


def code(text: str) -> Callable[[], Any]:
    """Statements that a learner might write."""

    def run() -> None:
        warnings.simplefilter("ignore")  # Python sees some of these coming
        exec(text, {"torch": torch, "t": t, "add": Add(), "Model": Model})

    return run


def stop(error: BaseException) -> Callable[[], Any]:
    def run() -> None:
        raise error

    return run


def not_a_hook_of_a_module() -> None:
    y = (t(1.0, requires_grad=True) * 2).exp()
    y.grad_fn.register_hook(lambda grad_input, grad_output: (*grad_input, *grad_input))
    y.backward()


async def async_hook(*arguments: Any) -> None:
    pass


class Store:
    def __init__(self) -> None:
        pass


EXCEPTIONS: list[tuple[str, Callable[[], Any]]] = [
    ("todo", stop(Todo())),
    ("todo", stop(NotImplementedError())),  # nbgrader's own stub
    ("raised", lambda: torch.ones(1, device="meta").cpu()),  # a NotImplementedError of torch's
    ("raised", lambda: nn.Module()(1)),
    ("input_refused", stop(StdinNotImplementedError("raw_input was called"))),
    ("input_refused", stop(EOFError("EOF when reading a line"))),
    ("recursion", after(lambda module, input, output: module(*input))),
    ("one_value_returned", before(lambda module, input: input[0])),
    ("one_value_returned", before(lambda module, input: [*input])),
    ("one_value_returned", before(lambda module, input: (*input, input[0]))),
    ("one_value_returned", lambda: Add()(t(1.0), x3=t(2.0))),
    ("wrong_arity", before(lambda module: None)),
    ("wrong_arity", before(lambda module, input, output: None)),
    ("wrong_arity", after(lambda module, input: None)),
    ("wrong_arity", backward(lambda grad: None)),
    ("wrong_arity", on_tensor(lambda module, grad: None)),
    ("wrong_arity", on_tensor(lambda: None)),
    ("wrong_call", code("[].append(1, 2)")),
    ("wrong_call", code("[].clear(1)")),
    ("class_as_hook", before(type("Store", (), {}))),
    ("class_as_hook", on_tensor(Store)),
    ("class_as_hook", after(Store)),
    ("async_function", before(async_hook)),
    ("async_function", backward(async_hook)),
    ("async_function", on_tensor(async_hook)),
    ("async_function", code("async def f(): pass\nf().clear()")),
    ("not_callable", code("x = (1, 2)\nx(0)")),
    ("not_callable", before(5)),
    ("not_one_number", lambda: float(torch.ones(4))),
    ("not_one_number", lambda: torch.ones(4).item()),
    ("not_one_number", lambda: bool(torch.ones(4))),
    ("wrong_return", on_tensor(lambda grad: 5)),
    ("wrong_return", on_tensor(lambda grad: (grad,))),
    ("wrong_return", backward(lambda m, grad_input, grad_output: (0.5, 0.5))),
    ("none_used", code("None * 2")),
    ("none_used", code("t(1.0) * None")),
    ("none_used", code("torch.add(t(1.0), None)")),
    ("none_used", code("None[0]")),
    ("none_used", code("a, b = None")),
    ("none_used", code("len(None)")),
    ("none_used", code("None.clone()")),
    ("none_used", code("None[0] = 1")),
    ("none_used", code("-None")),
    ("none_used", code("list(None)")),
    ("none_used", code("sum([None, None])")),
    ("none_used", on_tensor(None)),
    ("item_assignment", backward(lambda m, gi, go: exec("gi[0] /= 2", {"gi": gi}))),
    ("item_assignment", code("a = (1, 2); del a[0]")),
    ("not_a_tuple", backward(lambda m, gi, go: (g for g in gi))),
    ("not_a_tuple", backward(lambda m, gi, go: map(abs, gi))),
    ("not_a_tuple", backward(lambda m, gi, go: 5)),
    ("tuple_used", backward(lambda m, gi, go: gi / 2)),
    ("tuple_used", after(lambda module, input, output: input + 5)),
    ("tuple_used", after(lambda module, input, output: input - output)),
    ("tuple_used", after(lambda module, input, output: input * 2.0)),
    ("tuple_used", after(lambda module, input, output: torch.sum(input))),
    ("wrong_grad_count", backward(lambda m, gi, go: gi[0])),
    ("wrong_grad_count", backward(lambda m, gi, go: (*gi, *gi))),
    (
        "wrong_grad_count",
        backward(lambda m, go: (*go, *go), "register_full_backward_pre_hook"),
    ),
    ("wrong_grad_count", not_a_hook_of_a_module),
    ("wrong_size", on_tensor(lambda grad: torch.ones(3))),
    ("wrong_size", on_tensor(lambda grad: grad.sum())),
    ("wrong_size", on_tensor(lambda grad: grad.double())),
    ("wrong_size", backward(lambda m, gi, go: (torch.ones(2), torch.ones(2)))),
    ("graph_cut", code("t(1.0, requires_grad=True).detach().backward()")),
    (
        "graph_cut",
        code(
            "a, b = t(1.0, requires_grad=True), t(2.0, requires_grad=True)\n"
            "torch.autograd.grad(a * 2, b)"
        ),
    ),
    ("inplace_view", code("y = t(1.0, requires_grad=True).exp(); y += 1; y.backward()")),
    ("inplace_view", code("x = t(1.0, requires_grad=True); x += 1")),
    ("inplace_view", code("x = t(1.0, requires_grad=True); x[0] = 1")),
    ("inplace_view", code("t(0.0).expand(3).add_(1)")),
    (
        "inplace_view",
        code(
            "m = Model(); m.register_full_backward_hook(lambda *a: None)\n"
            "y = m(t(1.0, requires_grad=True), t(2.0, requires_grad=True)); y += 5"
        ),
    ),
    ("exits", code("exit()")),
    ("exits", code("import sys; sys.exit('gone')")),
    ("missing_name", code("anwser.append(1)")),
    ("local_name", code("def f():\n    answer += [1]\nf()")),
    ("local_name", code("def f():\n    answer = answer + [1]\nf()")),
    ("index_out_of_range", code("(1, 2)[2]")),
    ("index_out_of_range", code("t(1.0)[1]")),
    ("index_out_of_range", code("torch.tensor(1.0)[0]")),
    ("index_out_of_range", code("[][0] = 1")),
    ("wrong_unpack", code("a, b = (1, 2, 3)")),
    ("wrong_unpack", code("a, b = (1,)")),
    ("not_a_list", code("(1,).append(2)")),
    ("not_a_list", code("t(1.0).clear()")),
    ("tuple_attribute", code("(1,).grad")),
    ("no_attribute", code("[].push(1)")),
    ("no_attribute", code("t(1.0).appnd")),
    ("raised", code("1 / 0")),
    ("raised", code("torch.ones(2) + torch.ones(3)")),
    ("exits", stop(SystemExit(0))),
]


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(("name", "run"), EXCEPTIONS)
def test_an_exception_has_a_name(name: str, run: Callable[[], Any]) -> None:
    outcome = judge(observe(run), Expectation("it", freeze(t(1.0))), WORDS)
    assert outcome.mistake == name, outcome.seen
    assert "$" not in outcome.says
    assert outcome.seen.startswith("Stopped with") or name == "todo"


def test_every_pattern_of_exceptions_is_reached_by_a_real_message() -> None:
    from autograder.marking import exceptions

    caught = [frozen for _, run in EXCEPTIONS if isinstance(frozen := observe(run), Raised)]
    assert len(caught) == len(EXCEPTIONS)
    first = {
        next(
            (
                number
                for number, (_, kind, pattern) in enumerate(exceptions._KNOWN)
                if kind.fullmatch(error.type_name) and pattern.search(error.message)
            ),
            None,
        )
        for error in caught
    }
    missing = [known for number, known in enumerate(exceptions._KNOWN) if number not in first]
    assert not missing


# Names that no difference leads to: a lesson gives them to wrong values of its own.
FOR_LESSONS = {"unchanged", "inputs_damaged", "doubled"}
# Said elsewhere: by the judge below, and by expect (tests/test_expect.py).
BY_THE_GRADER = {"unexpected_values", "not_run", "timed_out", "crashed", "assertion"}
BY_THE_GRADER |= {"partial", "rebound", "answer_stopped", "answer_unreadable", "not_there_yet"}
BY_THE_GRADER |= {"answer_renamed", "interrupted"}


def test_every_sentence_is_reached_and_every_name_has_one() -> None:
    reached = {name for name, *_ in DIFFERENCES} | {name for name, _ in EXCEPTIONS}
    assert reached | FOR_LESSONS | BY_THE_GRADER == set(WORDS)


def test_every_parameter_of_a_sentence_is_one_that_its_difference_gives() -> None:
    for name, sentence in WORDS.items():
        wanted = {
            field or braced
            for _, field, braced, _ in string.Template.pattern.findall(sentence.says)
        }
        for known_as, actual, expected in DIFFERENCES:
            if known_as == name and not hasattr(actual, "send"):
                _, params = marking.diagnose.difference(freeze(actual), freeze(expected))
                assert wanted <= set(params), name


# --- judge ---------------------------------------------------------------------------------------


def test_a_named_mistake_comes_before_the_difference_and_the_first_one_counts() -> None:
    table = {"doubled": freeze(2 * A), "unchanged": one_of(freeze(2 * A), freeze(A))}
    outcome = judge(freeze(2 * A), Expectation("it", freeze(B), table), WORDS)
    assert (outcome.mistake, outcome.says) == ("doubled", WORDS["doubled"].says)
    assert judge(freeze(A), Expectation("it", freeze(B), table), WORDS).mistake == "unchanged"


def test_a_named_mistake_with_a_shared_sentence_has_its_parameters_filled_in() -> None:
    table = {"stored_again": freeze([A, A])}
    outcome = judge(freeze([A, A]), Expectation("it", freeze([A]), table), WORDS)
    assert "2 times" in outcome.says
    words = {**WORDS, "mine": Sentence("You have $count of $wanted.")}
    outcome = judge(freeze([A]), Expectation("it", freeze([A, B]), {"mine": freeze([A])}), words)
    assert outcome.says == "You have 1 of 2."


def test_an_accepted_value_passes_with_a_note() -> None:
    words = {**WORDS, "in_place": Sentence("this counts")}
    wanted = Expectation("it", freeze(A), accepted={"in_place": freeze(B)})
    outcome = judge(freeze(B), wanted, words)
    assert (outcome.passed, outcome.mistake, outcome.line) == (
        True,
        "in_place",
        "✓ it (this counts)",
    )
    assert judge(freeze(A), wanted, words) == Outcome(True, "it")


def test_a_mistake_without_a_sentence_gets_the_general_one() -> None:
    outcome = judge(1, Expectation("it", 2, {"no_such": 1}), WORDS)
    assert (outcome.mistake, outcome.says) == ("no_such", WORDS["different"].says)


def test_is_plain() -> None:
    assert is_plain(freeze([A, (1, {"a": None})]))
    for value in (torch.Size([1]), [torch.Size([1])], {"a": np.ones(1)}, one_of(1, np.ones(1))):
        assert not is_plain(freeze(value))


TWO = (Expectation("first", 1), Expectation("second", 2, accepted={"unchanged": 3}))


@pytest.mark.parametrize(
    ("run", "verdict", "mistake"),
    [
        (CellRun("c", "ok", values=(1, 2)), "passed", None),
        (CellRun("c", "ok", values=(1, 3)), "passed", "unchanged"),
        (CellRun("c", "ok", values=(1,)), "failed", "unexpected_values"),
        (CellRun("c", "ok", values=(1, 2, 2)), "failed", "unexpected_values"),
        (CellRun("c", "ok"), "failed", "unexpected_values"),
        (CellRun("c", "ok", values=(5, 2)), "failed", "too_many"),
        (CellRun("c", "timed out", values=(5,)), "failed", "too_many"),  # the first difference
        (CellRun("c", "error", values=(5,), error=Raised("Todo", "")), "failed", "too_many"),
        (CellRun("c", "error", values=(1,), error=Raised("Todo", "")), "failed", "todo"),
        (CellRun("c", "error", values=(1, 2), error=Raised("E", "")), "failed", "raised"),
        (CellRun("c", "error", values=(1, 2)), "failed", "not_run"),
        (CellRun("c", "timed out", values=(1, 2)), "timed out", "timed_out"),
        (CellRun("c", "crashed"), "crashed", "crashed"),
        (CellRun("c", "not run"), "not run", "not_run"),
        (None, "not run", "not_run"),
    ],
)
def test_decide(run: CellRun | None, verdict: str, mistake: str | None) -> None:
    decided = decide("e", 4, run, TWO, WORDS)
    assert (decided.verdict, decided.mistake) == (verdict, mistake)
    assert decided.points == (4 if verdict == "passed" else 0)
    assert decided.checked == "value"
    assert bool(decided.message) == (mistake is not None)


@pytest.mark.parametrize(
    ("run", "verdict", "message"),
    [
        (CellRun("c", "ok"), "passed", ""),
        (
            CellRun("c", "error", error=Raised("AssertionError", "x is\n  2" + "!" * 5_000)),
            "failed",
            "x is 2!!!!",
        ),
        (
            CellRun("c", "error", error=Raised("AssertionError", "")),
            "failed",
            WORDS["assertion"].says,
        ),
        (
            CellRun("c", "error", error=Raised("KeyError", "'a'")),
            "failed",
            "Stopped with KeyError: 'a'",
        ),
        (CellRun("c", "crashed"), "crashed", WORDS["crashed"].says),
        (None, "not run", WORDS["not_run"].says),
    ],
)
def test_plain_asserts_of_other_courses(run: CellRun | None, verdict: str, message: str) -> None:
    decided = decide("e", 4, run, (), WORDS)
    assert (decided.verdict, decided.checked) == (verdict, "assert")
    assert decided.message.startswith(message)
    assert "\n" not in decided.message
    assert len(decided.message) <= 1_000
    assert decided.as_json()["points"] == (4 if verdict == "passed" else 0)


@pytest.mark.parametrize(
    ("shown", "points"),
    [("2.5", 2.5), ("4", 4), ("0", 0), ("-1", 0), ("5", 0), ("nan", 0), ("inf", 0), ("'abc'", 4)],
)
def test_a_number_is_partial_credit_in_plain_asserts_only(shown: str, points: float) -> None:
    output = {"output_type": "execute_result", "data": {"text/plain": shown}}
    run = CellRun("c", "ok", (output,), (1,))
    decided = decide("e", 4, run, (), WORDS)
    assert decided.points == points
    assert decided.message == ("" if points == 4 else WORDS["partial"].says)
    assert decide("e", 4, run, (Expectation("it", 2),), WORDS).points == 0
    assert decide("e", 4, CellRun("c", "error", (output,)), (), WORDS).points == 0


# --- show ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (t(1.5), "tensor([1.5])"),
        (torch.tensor(1.5), "tensor(1.5)"),
        (t(True), "tensor([ True])"),
        (t(1.5, dtype=torch.float64), "tensor([1.5], float64)"),
        (torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "tensor([[1., 2.], [3., 4.]])"),
        (torch.zeros(4, 5), "tensor of shape (4, 5)"),
        (torch.zeros(0, 3), "tensor of shape (0, 3)"),
        (t(NAN, INF), "tensor([nan, inf])"),
        ((1,), "(1,)"),
        ((), "()"),
        ([1, 2.5, "a", None, True], "[1, 2.5, 'a', None, True]"),
        (list(range(10)), "[0, 1, 2, 3, 4, 5, 6, 7, … 2 more]"),
        ({i: i for i in range(9)}, "{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, … 1 more}"),
        (nested(9), "[[[[[…]]]]]"),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, "{'a': {'b': {'c': {'d': {…}}}}}"),
        ("a\nb", "'a\\nb'"),
        (Raised("ValueError", ""), "ValueError"),
        (Raised("ValueError", "one\n\n  two\x1b[31m"), "ValueError: one two�[31m"),
        (Other("ndarray"), "an ndarray"),
        (Other("int", "too large a number"), "an int (too large a number)"),
        (one_of(1, 2), "1 or 2"),
        (at_most(3), "at most 3"),
        (at_least(0.5), "at least 0.5"),
        (1234567.0, "1.235e+06"),
        ([12.0, -3.0, 12, NAN], "[12.0, -3.0, 12, nan]"),
    ],
)
def test_show(value: object, text: str) -> None:
    assert show(freeze(value)) == text


@pytest.mark.parametrize(
    "value",
    ["x" * 161, "x" * 2_000, [["abc" * 9] * 9] * 9, {"k" * 500: 1}, Raised("E", "x" * 999), 9**300],
)
def test_a_cut_is_seen(value: object) -> None:
    text = show(freeze(value))
    assert len(text) <= 160
    assert text.endswith("…")


# --- sentences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a", "t.toml"),
        ("a = 1", r"\[a\] needs a text"),
        ("[a]\nhint = 1", r"\[a\] needs a text"),
        ("[a]\nsays = ' '", r"\[a\] needs a text"),
        ("[a]\nsays = 1", r"\[a\] needs a text"),
        ("[a]\nsays = 'x'\nhint = 4", r"\[a\] may hold"),
        ("[a]\nsays = 'x'\nhint = true", r"\[a\] may hold"),
        ("[a]\nsays = 'x'\nhnit = 1", r"\[a\] may hold"),
    ],
)
def test_a_wrong_table_is_named(text: str, complaint: str) -> None:
    with pytest.raises(WordsError, match=complaint):
        parse(text, "t.toml")


def test_a_lesson_adds_sentences_and_replaces_shared_ones(tmp_path: Any) -> None:
    table = tmp_path / "mistakes.toml"
    assert marking.for_lesson(table) == marking.for_lesson(None) == WORDS
    table.write_text('[mine]\nsays = """one\n  two"""\nhint = 2\n[none]\nsays = "other"')
    words = marking.for_lesson(table)
    assert words["mine"] == Sentence("one two", 2)  # always one line
    assert words["none"].says == "other"
    assert words["nested"] == WORDS["nested"]
    table.write_bytes(b"\xff\xfe")
    with pytest.raises(WordsError, match=r"mistakes\.toml"):
        marking.for_lesson(table)


def test_what_stands_in_a_value_is_not_taken_for_a_parameter() -> None:
    strange = type("$says\n$count", (), {})
    outcome = judge(freeze(strange()), Expectation("it", 1), WORDS)
    assert "\n" not in outcome.line
    assert "$says $count" in outcome.says
