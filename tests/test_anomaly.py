"""Anomaly mode: the first nan, the line of the forward pass, and nothing where it is off. Phrases are PyTorch's."""

import threading
import warnings

import pytest

import autodiff_kernel as torch
from autodiff_kernel.autograd import Function, detect_anomaly, set_detect_anomaly
from autodiff_kernel.core import modes


@pytest.fixture(autouse=True)
def off_afterwards():
    yield
    set_detect_anomaly(False)
    assert not modes._provenance


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def caught(forward, kind=RuntimeError, check_nan=True):
    """(the error, the warning that names the forward line) of forward's backward in anomaly mode."""
    with pytest.warns(UserWarning) as seen, pytest.raises(kind) as error, detect_anomaly(check_nan):
        forward().backward()
    entering, *told = [w for w in seen if issubclass(w.category, UserWarning)]
    assert str(entering.message).startswith(
        "Anomaly Detection has been enabled. This mode will increase the runtime"
    )
    assert entering.filename == __file__
    assert len(told) == 1 and told[0].filename == __file__
    return error.value, str(told[0].message)


def test_nan_from_zero_times_an_infinite_slope():
    x = leaf(1.0, 0.0)

    def hidden():
        roots = x.sqrt()  # the culprit
        return torch.where(x > 0, roots, x).sum()

    error, told = caught(hidden)
    text = str(error)
    assert text.startswith("Function 'SqrtBackward0' returned nan values in its 0th output.\n")
    assert "is nan at [1]. The slope is inf there, and the gradient of the result 0: 0 × inf = nan." in text
    assert "sqrt was computed in test_anomaly.py, line" in text and "# the culprit" in text
    assert "clamp it" in error.explanation.cure
    assert told.startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n"
    )
    assert "roots = x.sqrt()" in told
    assert x.grad is None


def test_the_number_of_the_output():
    z, x = leaf(0.0, 1.0), leaf(0.0, 1.0)
    error, _ = caught(lambda: (z / x).sum())
    assert str(error).startswith("Function 'DivBackward0' returned nan values in its 1th output.")
    error, _ = caught(lambda: torch.where(torch.tensor(True), z, (x * 0).sqrt() * 0).sum())
    assert str(error).startswith("Function 'SqrtBackward0' returned nan values in its 0th output.")
    error, _ = caught(lambda: torch.cat([z, (x - x) / x]).sum())
    assert str(error).startswith("Function 'DivBackward0' returned nan values in its 1th output.")


def test_scalars_complex_and_second_order():
    x = torch.tensor(0.0, requires_grad=True)
    error, _ = caught(lambda: x.sqrt() * 0)
    assert "is nan. The slope is inf there" in str(error)
    z = torch.tensor([0j, 1j], requires_grad=True)
    error, _ = caught(lambda: (z.sqrt() * 0).sum().real)
    assert str(error).startswith("Function 'SqrtBackward0' returned nan values in its 0th output.")
    y = leaf(0.0, 1.0)
    error, _ = caught(lambda: (torch.autograd.grad((y**1.5).sum(), y, create_graph=True)[0] * 0).sum())
    assert str(error).startswith("Function 'PowBackward0' returned nan values in its 0th output.")


def test_a_nan_that_came_in_or_was_made_by_a_hook():
    x = leaf(1.0, 2.0)
    nan = torch.tensor([float("nan"), 1.0])
    with pytest.warns(UserWarning), pytest.raises(RuntimeError) as error, detect_anomaly():
        (x * 2).backward(nan)
    assert "Function 'MulBackward0' returned nan values in its 0th output." in str(error.value)
    assert "It came in: the gradient of the result had a nan already." in str(error.value)

    def hooked():
        y = x * 2
        y.register_hook(lambda g: g * nan)
        return y.sum()

    error, _ = caught(hooked)
    assert "Function 'MulBackward0' returned nan values" in str(
        error
    ) and "So a hook on the result made it" in str(error)


def test_what_is_no_anomaly():
    x = leaf(0.0, 1.0)
    x.register_hook(lambda g: g * float("nan"))  # no function returned it
    y = leaf(0.0, 1.0)
    with pytest.warns(UserWarning, match="Anomaly Detection"), detect_anomaly():
        (x * 2).sum().backward()
        y.sqrt().sum().backward()
    assert x.grad.isnan().all() and y.grad.tolist() == [float("inf"), 0.5]


def test_without_the_search_for_nan():
    x = leaf(0.0, 1.0)
    with pytest.warns(UserWarning), detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    assert x.grad.isnan().tolist() == [True, False]


def test_the_forward_ran_outside():
    x = leaf(0.0, 1.0)
    y = (x.sqrt() * 0).sum()
    error, told = caught(lambda: y)
    assert told.startswith(
        "Error detected in SqrtBackward0. No forward pass information available. Enable detect anomaly"
    )
    assert "was computed in" not in str(error)


def test_grad_too():
    x = leaf(0.0, 1.0)
    with (
        pytest.warns(UserWarning),
        pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan"),
        detect_anomaly(),
    ):
        torch.autograd.grad((x.sqrt() * 0).sum(), x)


# ------------------------------------------------------------------------------------------------ other failures
class Failing(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("mine")


def test_what_a_users_backward_raises_carries_the_line():
    x = leaf(1.0)
    error, told = caught(lambda: Failing.apply(x).sum(), ValueError)
    assert error.args == ("mine",) and error.__notes__ == [told]
    assert told.startswith("Error detected in FailingBackward.") and "Failing.apply(x).sum()" in told


def test_our_own_errors_carry_the_line():
    x = leaf(1.0, 2.0)

    def overwritten():
        y = x.exp()  # saved here
        y.add_(1)
        return y.sum()

    error, told = caught(overwritten)
    assert "modified by an inplace operation" in str(error) and "# saved here" in told
    assert any("# saved here" in str(place) for _, place in error.explanation.lines)
    y = x.exp().sum()
    y.backward()

    def twice():
        again = x.exp().sum()
        again.backward()
        return again

    error, told = caught(twice)
    assert "a second time" in str(error) and "again = x.exp().sum()" in told


def test_an_error_is_told_once_where_backward_runs_in_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                y = leaf(0.0)
                (y.sqrt() * 0).sum().backward()
            return g

    x = leaf(1.0)
    _, told = caught(lambda: Inner.apply(x).sum())
    assert told.startswith("Error detected in SqrtBackward0.")


# ------------------------------------------------------------------------------------------------ switching
def test_switching():
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)
    set_detect_anomaly(True)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, True)
    set_detect_anomaly(True, check_nan=False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    set_detect_anomaly(False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)
    with set_detect_anomaly(True):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    with pytest.warns(UserWarning):
        mode = detect_anomaly()
    assert not torch.is_anomaly_enabled()
    with mode:
        with set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.is_anomaly_enabled()))
        thread.start()
        thread.join()
        assert seen == [True]
    assert not torch.is_anomaly_enabled()


def test_lines_that_were_asked_for_stay_on():
    modes.set_provenance(True)
    try:
        with set_detect_anomaly(True):
            pass
        assert (leaf(1.0) * 2).grad_fn.place is not None
    finally:
        modes.set_provenance(False)


def test_right_gradients_and_no_warnings_while_it_is_on():
    def value(x):
        a, b = (x * 2).split(2)
        return (torch.cat([a.exp(), b]) @ x + (x.view(2, 2) @ x.view(2, 2)).sum()).sum()

    plain, watched = leaf(1.0, 2.0, 3.0, 4.0), leaf(1.0, 2.0, 3.0, 4.0)
    value(plain).backward()
    with warnings.catch_warnings(), set_detect_anomaly(True):
        warnings.simplefilter("error")
        y = value(watched)
        y.backward(retain_graph=True)
        y.backward(inputs=[watched])
    assert watched.grad.tolist() == (2 * plain.grad).tolist()
