"""Residual networks (He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015).

A block adds what its convolutions find to what came in, so that gradients reach the early layers unhindered.
"""

from typing import Any

from ... import nn


class BasicBlock(nn.Module):
    """Two 3×3 convolutions beside a way around them."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        around = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += around
        return self.relu(out)


class Bottleneck(nn.Module):
    """A 1×1, a 3×3 and a 1×1 convolution beside a way around them: narrow in the middle."""

    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        around = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += around
        return self.relu(out)


class ResNet(nn.Module):
    """A first convolution, four stages of blocks, each after the first half as high and wide, and a linear layer.

    block: BasicBlock or Bottleneck.  layers: how many of them in each stage.  Input (N, 3, H, W), output
    (N, num_classes).  zero_init_residual: each block begins as the identity.
    """

    def __init__(
        self, block: Any, layers: list[int], num_classes: int = 1000, zero_init_residual: bool = False
    ) -> None:
        super().__init__()
        self.inplanes = 64
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        self.layer1 = self._stage(block, 64, layers[0])
        self.layer2 = self._stage(block, 128, layers[1], 2)
        self.layer3 = self._stage(block, 256, layers[2], 2)
        self.layer4 = self._stage(block, 512, layers[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, BasicBlock | Bottleneck):
                    last = module.bn2 if isinstance(module, BasicBlock) else module.bn3
                    nn.init.constant_(last.weight, 0)

    def _stage(self, block: Any, planes: int, count: int, stride: int = 1) -> nn.Module:
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2d(self.inplanes, planes * block.expansion, 1, stride, bias=False),
                nn.BatchNorm2d(planes * block.expansion),
            )
        blocks = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        blocks += [block(self.inplanes, planes) for _ in range(count - 1)]
        return nn.Sequential(*blocks)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def _made(name: str, block: Any, layers: list[int], weights: Any, pretrained: bool, kwargs: Any) -> ResNet:
    if weights is not None or pretrained:
        raise ValueError(
            f"{name}(): pretrained weights are not here and nothing is downloaded; make it with weights=None and "
            "load a file of yours with model.load_state_dict(torch.load(file))"
        )
    return ResNet(block, layers, **kwargs)


def resnet18(
    *, weights: Any = None, progress: bool = True, pretrained: bool = False, **kwargs: Any
) -> ResNet:
    """ResNet-18 with random weights; kwargs go to ResNet.  Raises ValueError if pretrained ones are asked for."""
    return _made("resnet18", BasicBlock, [2, 2, 2, 2], weights, pretrained, kwargs)


def resnet34(
    *, weights: Any = None, progress: bool = True, pretrained: bool = False, **kwargs: Any
) -> ResNet:
    """ResNet-34 with random weights; kwargs go to ResNet.  Raises ValueError if pretrained ones are asked for."""
    return _made("resnet34", BasicBlock, [3, 4, 6, 3], weights, pretrained, kwargs)


def resnet50(
    *, weights: Any = None, progress: bool = True, pretrained: bool = False, **kwargs: Any
) -> ResNet:
    """ResNet-50 with random weights; kwargs go to ResNet.  Raises ValueError if pretrained ones are asked for."""
    return _made("resnet50", Bottleneck, [3, 4, 6, 3], weights, pretrained, kwargs)
