"""torch.testing: are two results close, and tensors to try a function on.

>>> import autodiff_kernel as torch
>>> torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2.0000001]))
"""

from .comparison import assert_allclose as assert_allclose
from .comparison import assert_close as assert_close
from .making import make_tensor as make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
