"""A script written for PyTorch and torchvision runs unchanged, and prints what it printed there (unchanged/digits.txt)."""

import re
import subprocess
import sys
from pathlib import Path

from test_as_torch import run

from autodiff_kernel import datasets

HERE = Path(__file__).parent / "unchanged"


def test_a_training_script_prints_what_it_prints_with_pytorch(tmp_path: Path) -> None:
    datasets.stand_in("MNIST", tmp_path, train=200, test=10)
    command = [sys.executable, "-m", "autodiff_kernel.as_torch", str(HERE / "digits.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ours, theirs = done.stdout, (HERE / "digits.txt").read_text(encoding="utf-8")
    number = re.compile(r"(?<=loss )\d+\.\d+")
    assert number.sub("_", ours) == number.sub(
        "_", theirs
    )  # the model, the names of classes, the learning rates
    losses = [(float(a), float(b)) for a, b in zip(number.findall(ours), number.findall(theirs), strict=True)]
    assert len(losses) == 20
    assert max(abs(a - b) for a, b in losses) <= 1e-4


def test_layers_optimizers_and_loaders_go_by_pytorchs_names() -> None:
    code = """
as_torch.install()
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset
from torch.nn.modules.linear import Linear
from torch.nn.modules.container import Sequential
from torch.optim.sgd import SGD
from torch.utils.data.dataset import TensorDataset as T
from torchvision import datasets, models
import torchvision.transforms as transforms
from torchvision.datasets.mnist import MNIST
model = nn.Sequential(Linear(2, 3), nn.ReLU())
assert Linear is ours.nn.Linear and SGD is ours.optim.SGD and T is TensorDataset and Sequential is nn.Sequential
print(type(model), type(model[0]), nn.Module, nn.MSELoss, type(model[0].weight))
print(optim.Adam, optim.lr_scheduler.StepLR, DataLoader, T)
print(MNIST, datasets.CIFAR10, transforms.ToTensor, transforms.RandomCrop, models.ResNet)
again = pickle.loads(pickle.dumps(model))
print(type(again[0]), torch.equal(again[0].weight, model[0].weight), torch.typename(model))
as_torch.uninstall()
print(type(model[0]).__module__, MNIST.__module__)
"""
    assert run(code).splitlines() == [
        "<class 'torch.nn.modules.container.Sequential'> <class 'torch.nn.modules.linear.Linear'> "
        "<class 'torch.nn.modules.module.Module'> <class 'torch.nn.modules.loss.MSELoss'> "
        "<class 'torch.nn.parameter.Parameter'>",
        "<class 'torch.optim.adam.Adam'> <class 'torch.optim.lr_scheduler.StepLR'> "
        "<class 'torch.utils.data.dataloader.DataLoader'> <class 'torch.utils.data.dataset.TensorDataset'>",
        "<class 'torchvision.datasets.mnist.MNIST'> <class 'torchvision.datasets.cifar.CIFAR10'> "
        "<class 'torchvision.transforms.transforms.ToTensor'> <class 'torchvision.transforms.transforms.RandomCrop'> "
        "<class 'torchvision.models.resnet.ResNet'>",
        "<class 'torch.nn.modules.linear.Linear'> True torch.nn.modules.container.Sequential",
        "autodiff_kernel.nn.modules.linear autodiff_kernel.datasets.mnist",
    ]
