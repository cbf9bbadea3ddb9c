"""torch.nn.attention: which implementation computes attention. Here one does, whatever is chosen."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(Enum):
    """PyTorch's implementations of scaled_dot_product_attention; their results are the same."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Choose among the implementations inside a `with` block. There is one here (MATH), so it computes in any case.

    Raises AssertionError for what is no SDPBackend or list of them.

    >>> import autodiff_kernel as torch
    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     _ = torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 2, 4)] * 3)
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    assert isinstance(chosen, list) and all(isinstance(b, SDPBackend) for b in chosen), (
        "Backend must be an instance of SDPBackend or a list of SDPBackend instances"
    )
    yield
