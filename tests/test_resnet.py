"""Residual networks: torchvision's layers, and its numbers for the same seed."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.vision.models import resnet18, resnet34, resnet50


def test_resnet18_has_torchvisions_weights_and_outputs() -> None:
    torch.manual_seed(0)
    model = resnet18()
    first = torch.tensor([-0.0203, 0.0187, 0.0376, 0.0224])
    assert torch.allclose(model.fc.weight[0, :4], first, atol=5e-5)
    assert torch.allclose(
        model.layer4[1].conv2.weight[0, 0, 0], torch.tensor([0.0289, 0.0117, -0.0146]), atol=5e-5
    )
    torch.manual_seed(1)
    x = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        out = model.eval()(x)
    assert out.shape == (2, 1000)
    assert torch.allclose(out[0, :5], torch.tensor([0.7394, 0.6622, -0.7211, 0.3738, -0.5730]), atol=2e-4)
    y = model.train()(x)
    assert torch.allclose(y[1, :5], torch.tensor([0.4439, 0.5142, -0.1450, 0.2718, -0.4797]), atol=2e-4)
    y.sum().backward()
    assert float(model.conv1.weight.grad.norm()) == pytest.approx(2714.3, rel=1e-3)
    assert torch.allclose(model.bn1.running_mean[:3], torch.tensor([0.0003, -0.0003, 0.0003]), atol=6e-5)


@pytest.mark.parametrize("make, count", [(resnet34, 21_797_672), (resnet50, 25_557_032)])
def test_sizes(make: object, count: int) -> None:
    assert sum(p.numel() for p in make().parameters()) == count  # type: ignore[operator]


def test_options_and_the_refusal_of_pretrained_weights() -> None:
    model = resnet18(num_classes=10, zero_init_residual=True)
    assert model.fc.out_features == 10 and not model.layer1[0].bn2.weight.any() and model.bn1.weight.all()
    assert list(model.state_dict())[:2] == ["conv1.weight", "bn1.weight"] and len(model.state_dict()) == 122
    for asked in ({"weights": "DEFAULT"}, {"pretrained": True}):
        with pytest.raises(
            ValueError, match="pretrained weights are not here and nothing is downloaded"
        ) as caught:
            resnet18(**asked)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
