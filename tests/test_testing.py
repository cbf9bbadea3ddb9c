"""torch.testing: comparisons, and what they say, are PyTorch's; made tensors have its digits."""

import numpy as np
import pytest

import autodiff_kernel as torch

T, nan, inf = torch.tensor, float("nan"), float("inf")
close = torch.testing.assert_close


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (torch.ones(2), torch.ones(2) + 1e-7, {}),
        (T(nan), T(nan), {"equal_nan": True}),
        (torch.ones(2), torch.ones(2).double(), {"check_dtype": False}),
        (torch.ones(2), torch.ones(2) + 1, {"atol": 3, "rtol": 0}),
        (T([1, 2]), T([1, 3]), {"rtol": 0.5, "atol": 0.0}),
        (np.ones(2), np.ones(2), {}),
        (1, 1, {}),
        (inf, inf, {}),
        (None, None, {}),
        ([], [], {}),
        ((1, 2), [1, 2], {}),
        ({"a": [1.0, torch.ones(1)]}, {"a": [1.0, torch.ones(1)]}, {}),
        (torch.nn.Parameter(torch.ones(1)), torch.ones(1), {}),
        (1, 1.0 + 1e-9, {"check_dtype": False}),
        (T([]), T([]), {}),
    ],
)
def test_close(a, b, words) -> None:
    close(a, b, **words)


TENSORS = (
    "Tensor-likes are not close!\n\nMismatched elements: {}\nGreatest absolute difference: {} (up to 1e-05 allowed)\n"
    "Greatest relative difference: {} (up to 1.3e-06 allowed)"
)


@pytest.mark.parametrize(
    ("a", "b", "words", "text"),
    [
        (
            torch.ones(2),
            torch.ones(2) + 1,
            {},
            TENSORS.format("2 / 2 (100.0%)", "1.0 at index (0,)", "0.5 at index (0,)"),
        ),
        (
            T([1.0, 2.0, 3.0]),
            T([1.0, 2.0, 4.0]),
            {},
            TENSORS.format("1 / 3 (33.3%)", "1.0 at index (2,)", "0.25 at index (2,)"),
        ),
        (
            T([1.0, nan]),
            T([1.0, 2.0]),
            {},
            TENSORS.format("1 / 2 (50.0%)", "nan at index (1,)", "nan at index (1,)"),
        ),
        (
            torch.ones(2, dtype=torch.complex64),
            torch.full((2,), 2 + 0j, dtype=torch.complex64),
            {},
            TENSORS.format("2 / 2 (100.0%)", "1.0 at index (0,)", "0.5 at index (0,)"),
        ),
        (
            [torch.ones(2)],
            [torch.zeros(2)],
            {},
            TENSORS.format("2 / 2 (100.0%)", "1.0 at index (0,)", "inf at index (0,)")
            + "\n\nThe failure occurred for item [0]",
        ),
        (
            {"a": [1.0]},
            {"a": [2.0]},
            {},
            "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to "
            "1e-07 allowed)\nRelative difference: 0.5 (up to 1e-07 allowed)\n\nThe failure occurred for item ['a'][0]",
        ),
        (
            torch.ones(2),
            torch.ones(2) + 1,
            {"rtol": 0, "atol": 0},
            "Tensor-likes are not equal!\n\nMismatched elements: 2 / 2 "
            "(100.0%)\nGreatest absolute difference: 1.0 at index (0,)\nGreatest relative difference: 0.5 at index (0,)",
        ),
        (
            T([True]),
            T([False]),
            {},
            "Tensor-likes are not equal!\n\nMismatched elements: 1 / 1 (100.0%)\nGreatest absolute "
            "difference: 1 at index (0,)\nGreatest relative difference: inf at index (0,)",
        ),
        (
            torch.ones(2, dtype=torch.uint8),
            torch.full((2,), 2, dtype=torch.uint8),
            {},
            "Tensor-likes are not equal!\n\nMismatched "
            "elements: 2 / 2 (100.0%)\nGreatest absolute difference: 1 at index (0,)\n"
            "Greatest relative difference: 0.5 at index (0,)",
        ),
        (
            T(1.0),
            T(2.0),
            {},
            "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\n"
            "Relative difference: 0.5 (up to 1.3e-06 allowed)",
        ),
        (
            1,
            2,
            {},
            "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5",
        ),
        (
            1 + 1j,
            1 + 2j,
            {},
            "Scalars are not close!\n\nExpected (1+2j) but got (1+1j).\nAbsolute difference: 1.0 (up to 1e-07 "
            "allowed)\nRelative difference: 0.4472135954999579 (up to 1e-07 allowed)",
        ),
        (
            torch.ones(2),
            torch.ones(3),
            {},
            "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).",
        ),
        (
            torch.ones(2),
            torch.ones(2).double(),
            {},
            "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.",
        ),
        (
            torch.ones(2, 2),
            torch.ones(2, 2).t(),
            {"check_stride": True},
            "The values for attribute 'stride()' do not match: (2, 1) != (1, 2).",
        ),
        (1, 1.0, {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
        (True, False, {}, "Booleans mismatch: True is not False"),
        (None, 3, {}, "None mismatch: None is not 3"),
        ([1.0], [1.0, 2.0], {}, "The length of the sequences mismatch: 1 != 2"),
        (
            {"a": 1, "b": 2},
            {"a": 1},
            {},
            "The keys of the mappings do not match:\nMissing keys in the actual mapping: []\n"
            "Additional keys in the actual mapping: ['b']",
        ),
        (1, 2, {"msg": "hey"}, "hey"),
        (1, 2, {"msg": lambda text: text[:7] + "!"}, "Scalars!"),
    ],
)
def test_not_close(a, b, words, text) -> None:
    with pytest.raises(AssertionError) as caught:
        close(a, b, **words)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("a", "b"), [("a", "a"), (torch.ones(2), [1.0, 1.0]), (1, T(1)), (torch.ones(2), np.ones(2))]
)
def test_what_cannot_be_compared(a, b) -> None:
    with pytest.raises(TypeError, match="^No comparison pair was able to handle inputs of type <class '"):
        close(a, b)


def test_one_tolerance_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="must be either specified or omitted, but got no atol"):
        close(1.0, 1.0, rtol=1.0)


def test_the_old_name() -> None:
    with pytest.warns(FutureWarning, match="deprecated since 1.12"):
        torch.testing.assert_allclose(torch.ones(2), [1.0, 1.0])


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (
            {"dtype": torch.float32},
            [[-0.06738138198852539, 4.8279924392700195], [-7.407406330108643, -6.623451232910156]],
        ),
        ({"dtype": torch.int64}, [[6, -5], [-9, -9]]),
        ({"dtype": torch.bool}, [[False, True], [True, False]]),
        ({"dtype": torch.uint8}, [[4, 9], [3, 0]]),
        ({"dtype": torch.float16}, [[-0.0673828125, 4.828125], [-7.40625, -6.625]]),
        (
            {"dtype": torch.float32, "low": 1, "high": 2},
            [[1.4962565898895264, 1.7682218551635742], [1.088477373123169, 1.1320304870605469]],
        ),
        (
            {"dtype": torch.float64, "noncontiguous": True},
            [[3.740757559196183, 7.573458314195285], [5.240662059245466, -2.680062760909289]],
        ),
        ({"dtype": torch.int32, "low": 0, "high": 2, "exclude_zero": True}, [[1, 1], [1, 1]]),
        ({"dtype": torch.int8, "low": -500, "high": 500}, [[44, -81], [-11, 64]]),
        ({"dtype": torch.int32, "low": -500, "high": 500.5}, [[-237, 35], [-213, -211]]),
    ],
)
def test_made_tensors_have_pytorchs_digits(words, values) -> None:
    torch.manual_seed(0)
    x = torch.testing.make_tensor(2, 2, device="cpu", **words)
    assert x.tolist() == values and x.dtype is words["dtype"]
    assert x.stride() == ((4, 2) if words.get("noncontiguous") else (2, 1))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"dtype": torch.float32, "low": 2, "high": 1}, "`low` must be less than `high`, but got 2 >= 1"),
        ({"dtype": torch.int32, "requires_grad": True}, "not supported for boolean and integral dtypes"),
        ({"dtype": torch.float32, "low": nan}, "cannot be NaN, but got low=nan and high=9"),
        (
            {"dtype": torch.float32, "noncontiguous": True, "memory_format": torch.contiguous_format},
            "mutually exclusive",
        ),
    ],
)
def test_made_tensors_refuse(words, text) -> None:
    with pytest.raises(ValueError, match=text):
        torch.testing.make_tensor(2, 2, device="cpu", **words)
