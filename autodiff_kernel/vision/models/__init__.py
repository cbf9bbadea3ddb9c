"""Networks of well-known shape, with random weights."""

from ...core.places import claim as _claim
from .resnet import ResNet as ResNet
from .resnet import resnet18 as resnet18
from .resnet import resnet34 as resnet34
from .resnet import resnet50 as resnet50

_claim()
