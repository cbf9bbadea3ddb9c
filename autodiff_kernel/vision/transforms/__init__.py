"""Transforms of images: classes to be composed, and as `functional` the functions behind them."""

from ...core.places import claim as _claim
from . import functional as functional
from .functional import InterpolationMode as InterpolationMode
from .random_transforms import RandomApply as RandomApply
from .random_transforms import RandomCrop as RandomCrop
from .random_transforms import RandomHorizontalFlip as RandomHorizontalFlip
from .random_transforms import RandomResizedCrop as RandomResizedCrop
from .random_transforms import RandomRotation as RandomRotation
from .random_transforms import RandomVerticalFlip as RandomVerticalFlip
from .transforms import CenterCrop as CenterCrop
from .transforms import Compose as Compose
from .transforms import ConvertImageDtype as ConvertImageDtype
from .transforms import Grayscale as Grayscale
from .transforms import Lambda as Lambda
from .transforms import Normalize as Normalize
from .transforms import Pad as Pad
from .transforms import PILToTensor as PILToTensor
from .transforms import Resize as Resize
from .transforms import ToPILImage as ToPILImage
from .transforms import ToTensor as ToTensor

_claim()
