"""The readers of well-known data sets, under torchvision's name; `autodiff_kernel.datasets` has them and more."""

from ..core.places import claim as _claim
from ..datasets.cifar import CIFAR10 as CIFAR10
from ..datasets.files import ImageFiles as VisionDataset
from ..datasets.mnist import MNIST as MNIST
from ..datasets.mnist import FashionMNIST as FashionMNIST

__all__ = ["CIFAR10", "MNIST", "FashionMNIST", "VisionDataset"]

_claim()
