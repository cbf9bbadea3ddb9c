"""torch.autograd.anomaly_mode: find the forward line of a failure in backward, and the first nan."""

import warnings
from typing import Any

from ..core import anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """`with detect_anomaly():` backward inside stops at the first nan, and errors name the line of the forward pass.

    check_nan: False looks for no nan, and only names lines.  The forward pass must run inside too, so that its lines
    are known.  The mode holds for all threads.  It slows backward down, and warns of that.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(0., requires_grad=True)
    >>> with torch.autograd.detect_anomaly():
    ...     y = x.sqrt() * 0
    ...     try:
    ...         y.backward()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = anomaly.on[0]
        self.prev_check_nan = anomaly.check_nan[0]
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        anomaly.switch(True, self.check_nan)

    def __exit__(self, *_: Any) -> None:
        anomaly.switch(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once as a function call, or for a `with` block.

    >>> import autodiff_kernel as torch
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    >>> torch.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = anomaly.on[0]
        self.prev_check_nan = anomaly.check_nan[0]
        anomaly.switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        anomaly.switch(self.prev, self.prev_check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    >>> import autodiff_kernel as torch
    >>> torch.is_anomaly_enabled()
    False
    """
    return anomaly.on[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for nan (where it is on).

    >>> import autodiff_kernel as torch
    >>> torch.is_anomaly_check_nan_enabled()
    True
    """
    return anomaly.check_nan[0]
