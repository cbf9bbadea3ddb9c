"""torch.optim: optimizers, which change parameters by their gradients, and schedules for their learning rates.

>>> import autodiff_kernel as torch
>>> w = torch.tensor([3.], requires_grad=True)
>>> opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
>>> for _ in range(3):
...     opt.zero_grad()
...     loss = (w ** 2).sum()
...     loss.backward()
...     opt.step()
>>> w
tensor([0.1860], requires_grad=True)
"""

from ..core import places as _places
from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "Rprop", "SGD", "lr_scheduler", "swa_utils",
]  # fmt: skip

_places.claim()
