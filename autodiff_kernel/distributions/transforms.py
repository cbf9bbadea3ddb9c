"""Transforms: invertible functions that know how much they stretch, log |dy/dx|.

With them a distribution is made of another one (`TransformedDistribution`), and numbers without bounds become
parameters with some (`transform_to`, `biject_to`).

>>> import autodiff_kernel as torch
>>> t = torch.distributions.transforms.ExpTransform()
>>> t(torch.tensor([0., 1.])), t.inv(torch.tensor([1.]))
(tensor([1.0000, 2.7183]), tensor([0.]))
"""

from .elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .joint_transforms import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from .transform import ComposeTransform, IndependentTransform, ReshapeTransform, Transform, identity_transform

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip
