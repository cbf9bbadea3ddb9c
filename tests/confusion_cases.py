"""What learners trip over, each as a cell, and what an explanation has to name: the cause, the lines, the cure."""

from typing import NamedTuple


class Confusion(NamedTuple):
    """A cell and its explanation.

    code: the cell; `np` and `torch` are there. says: parts of the finding. lines: numbers of the lines that must be named.
    fix: a part of the cure ('' where nothing is wrong and there is only something to know). raises: the exception's type.
    """

    name: str
    code: str
    says: tuple[str, ...]
    lines: tuple[int, ...]
    fix: str = ""
    raises: str = ""


CONFUSIONS = [
    # ------------------------------------------------------------------------------------------ where is my gradient?
    Confusion(
        "a leaf that was converted",
        "theta = torch.zeros(2, 2, requires_grad=True).half()\n(theta.float() ** 2).sum().backward()",
        ("theta is no leaf", "`torch.zeros(2, 2, requires_grad=True).half()`"), (1,),
        "theta = torch.zeros(2, 2).half().requires_grad_()",
    ),
    Confusion(
        "an update that makes a new tensor",
        "slope = torch.tensor(4.0, requires_grad=True)\nfor k in range(2):\n    cost = (slope - 1) ** 2\n"
        "    cost.backward()\n    slope = slope - 0.25 * slope.grad\n    break\nprint(slope.is_leaf)",
        ("slope is no leaf any more", "line 5"), (1, 5), "with torch.no_grad():\n        slope -= 0.25 * slope.grad",
    ),
    Confusion(
        "an input that was not used",
        "near = torch.ones(2, requires_grad=True)\nfar = torch.ones(2, requires_grad=True)\ncost = near.prod()\n"
        "slopes = torch.autograd.grad(cost, (near, far))",
        ("input 1 of autograd.grad (far)", "from near, not from far"), (2, 3, 4), "allow_unused=True", "RuntimeError",
    ),
    Confusion(
        "a tensor made of tensors",
        "left = torch.tensor(0.5, requires_grad=True)\nright = torch.tensor(1.5, requires_grad=True)\n"
        "pair = torch.tensor([left, right, left])",
        ("pair does not require grad", "copies the numbers out of left and right"), (3,),
        "pair = torch.stack([left, right, left])",
    ),
    Confusion(
        "a loss that was computed under no_grad",
        "gain = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    level = gain.exp()\n    cost = level.mean()\n"
        "cost.backward()",
        ("cost does not require grad", "`gain.exp()` in line 3", "switched off"), (2, 3, 5), "level = gain.exp()   # outside",
        "RuntimeError",
    ),
    Confusion(
        "nothing that requires grad",
        "feature = torch.ones(2, 3)\ncost = (feature * 0.1).sum()\ncost.backward()",
        ("cost does not require grad", "feature of line 1, which does not"), (1, 3),
        "feature = torch.ones(2, 3, requires_grad=True)", "RuntimeError",
    ),
    Confusion(
        "a loss that was made a leaf",
        "factor = torch.ones(3)\ncost = (factor * 4).mean()\ncost.requires_grad_(True)\ncost.backward()",
        ("cost was made a leaf in line 3",), (2, 3, 4), "factor = torch.ones(3, requires_grad=True)",
    ),
    Confusion(
        "a detour through NumPy",
        "angle = torch.ones(3, requires_grad=True)\nheight = torch.from_numpy(np.cos(angle.detach().numpy()))",
        ("height does not require grad", "NumPy array"), (2,), "height = torch.cos(angle)",
    ),
    # ------------------------------------------------------------------------------------------ backward complains
    Confusion(
        "backward a second time",
        "side = torch.tensor(3.0, requires_grad=True)\nvolume = side * side * side\nvolume.backward()\nvolume.backward()",
        ("The graph of volume was freed by the backward of line 3",), (2, 3, 4), "retain_graph=True", "RuntimeError",
    ),
    Confusion(
        "a part that was computed before the loop",
        "base = torch.tensor(2.0, requires_grad=True)\npart = base.exp()\nfor k in range(3):\n    cost = part * k\n"
        "    cost.backward()",
        ("part of line 2 was computed before the loop",), (2, 5), "part = base.exp()   # inside the loop", "RuntimeError",
    ),
    Confusion(
        "a state that goes on into the next round",
        "mix = torch.tensor(0.3, requires_grad=True)\nstate = torch.zeros(2)\nfor k in range(3):\n"
        "    state = (mix * state + 1).sigmoid()\n    state.sum().backward()",
        ("state of one round of the loop goes on into the next", "line 4"), (4, 5), "state = state.detach()", "RuntimeError",
    ),
    Confusion(
        "a gradient of another shape to start from",
        "point = torch.ones(2, 2, requires_grad=True)\nimage = point * 3\nimage.backward(torch.ones(4))",
        ("[4]", "[2, 2]", "one number for each number of the output"), (2, 3), "image.backward(torch.ones_like(image))",
        "RuntimeError",
    ),
    Confusion(
        "an array that is the parameter's memory",
        "height = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    heights = height.numpy()\nheights[1] = -2.0",
        ("height[1] was 1 and is -2", "one memory"), (3, 4), "height.numpy().copy()",
    ),
    Confusion(
        "an array of what requires grad",
        "curve = torch.ones(3, requires_grad=True)\npoints = np.array(curve)",
        ("curve requires grad", "NumPy"), (1, 2), "np.array(curve.detach())", "RuntimeError",
    ),
    Confusion(
        "a deep copy of a result",
        "import copy\nseed = torch.ones(2, requires_grad=True)\ngrown = seed.exp()\ntwin = copy.deepcopy(grown)",
        ("grown was computed in line 3", "only leaves"), (3, 4), "grown.detach().clone()", "RuntimeError",
    ),
    # ------------------------------------------------------------------------------------------ in place, and views
    Confusion(
        "a saved value that was changed",
        "dose = torch.ones(2, requires_grad=True)\neffect = dose.tanh()\neffect *= 2\neffect.sum().backward()",
        ("tanh in line 2 saved its own result effect", "line 3 changed it"), (2, 3, 4), "effect = effect * 2", "RuntimeError",
    ),
    Confusion(
        "a saved value that was changed unseen",
        "dose = torch.tensor([0.0, 1.0], requires_grad=True)\neffect = dose.exp()\neffect.data.zero_()\n"
        "effect.sum().backward()",
        ("The gradient is silently wrong", "effect.data.zero_()", ".data"), (2, 3), "effect = effect.clone()",
    ),
    Confusion(
        "detach shares the memory",
        "plan = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ndraft = plan.detach()\ndraft[0] = 50.0",
        ("plan changed with draft", "shares its memory"), (2, 3), "draft = plan.detach().clone()",
    ),
    Confusion(
        "rows of a loop that are changed",
        "table = torch.ones(2, 3, requires_grad=True) * 2\nfor line in table:\n    line *= 3",
        ("line is one of several views of table",), (2, 3), "table[i] = table[i] * 3", "RuntimeError",
    ),
    Confusion(
        "out= has no history",
        "power = torch.ones(2, requires_grad=True)\nbuffer = torch.empty(2)\ntorch.mul(power, 2, out=buffer)",
        ("power requires grad", "out= has no history"), (1, 3), "torch.mul(power, 2)", "RuntimeError",
    ),
    Confusion(
        "a list of one and the same tensor",
        "place = torch.zeros(2)\npath = []\nfor k in range(4):\n    place += 0.5\n    path.append(place)",
        ("path holds one and the same tensor, place, 4 times",), (4,), "path.append(place.detach().clone())",
    ),
    # ------------------------------------------------------------------------------------------ the training loop
    Confusion(
        "gradients that add up",
        "weight = torch.tensor(2.0, requires_grad=True)\nfor k in range(4):\n    cost = weight ** 2\n    cost.backward()",
        ("weight.grad is the sum of the gradients of 4 backwards",), (4,), "weight.grad = None",
    ),
    Confusion(
        "a sum that keeps all graphs",
        "weight = torch.ones(2, requires_grad=True)\nrunning = 0.0\nfor k in range(3):\n    cost = (weight ** 2).sum()\n"
        "    cost.backward()\n    running += cost\n    weight.grad = None",
        ("running keeps the graphs of 3 rounds",), (6,), "running += cost.item()",
    ),
    # ------------------------------------------------------------------------------------------ shapes
    Confusion(
        "a column and a row",
        "guess = torch.zeros(4, 1)\ntruth = torch.ones(4)\nerror = ((guess - truth) ** 2).mean()",
        ("guess has the shape [4, 1] and truth [4]", "16 values instead of 4"), (3,), "truth.reshape(guess.shape)",
    ),
    Confusion(
        "shapes that do not fit",
        "first = torch.ones(3, 4)\nsecond = torch.ones(3)\nfirst * second",
        ("first [3, 4] and second [3] do not fit", "4 meets 3"), (3,), "second.unsqueeze(1)", "RuntimeError",
    ),
    Confusion(
        "a view that mixes the samples",
        "batch = torch.zeros(6, 2, 4)\nrows = batch.view(-1, 3)",
        ("16 rows of 3 values out of 6 samples", "different samples"), (2,), "batch.flatten(1)",
    ),
    Confusion(
        "a view of what was turned round",
        "grid = torch.zeros(3, 2).t()\nflat = grid.view(-1)",
        ("grid (shape [2, 3], strides [1, 2])", "t in line 1 turned it round"), (1, 2), "flat = grid.reshape(-1)",
        "RuntimeError",
    ),
    Confusion(
        "which dimension disappears",
        "scores = torch.tensor([[1.0, 5.0, 2.0], [3.0, 0.0, 9.0]])\nbest = scores.mean(dim=0)",
        ("[2, 3] to [3]", "dim 0 disappeared"), (2,),
    ),
    Confusion(
        "a negative step",
        "days = torch.arange(7)\nback = days[::-1]",
        ("days cannot be indexed with a negative step",), (2,), "days.flip(0)", "ValueError",
    ),
    # ------------------------------------------------------------------------------------------ dtypes and devices
    Confusion(
        "division of whole numbers",
        "coins = torch.tensor([9, -9])\nshares = coins // 4",
        ("shares is -3 for -9 divided by 4", "rounds down"), (2,),
    ),
    Confusion(
        "bytes that wrap around",
        "pixel = torch.tensor([250, 7], dtype=torch.uint8)\nlighter = pixel + 10",
        ("wrapped around", "250 + 10 = 260", "4"), (2,), "pixel.int() + 10",
    ),
    Confusion(
        "half precision that overflows",
        "speed = torch.tensor([500.0, 2.0], dtype=torch.float16)\nenergy = speed * speed",
        ("energy has inf", "500 * 500 = 250000", "65504"), (2,), "speed.float() * speed.float()",
    ),
    Confusion(
        "a conversion that nobody kept",
        "sample = torch.ones(3, dtype=torch.float64)\nsample.to(torch.float32)\nprint(sample.dtype)",
        ("gave a new tensor that nobody kept", "sample is still float64"), (2,), "sample = sample.to(torch.float32)",
    ),
    Confusion(
        "no GPU",
        "torch.zeros(3).cuda()",
        ("A GPU was asked for",), (1,), 'device = "cuda" if torch.cuda.is_available() else "cpu"', "AssertionError",
    ),
    # ------------------------------------------------------------------------------------------ nan and inf
    Confusion(
        "where does not protect the other branch",
        "area = torch.tensor([9.0, 0.0], requires_grad=True)\nsafe = area > 0\n"
        "side = torch.where(safe, area.sqrt(), torch.zeros(2))\nside.sum().backward()",
        ("area.grad is nan", "slope of sqrt at 0, which is inf", "where left this element out"), (3,),
        "torch.where(safe, area,",
    ),
    Confusion(
        "softmax by hand",
        "vote = torch.tensor([800.0, 1.0, 0.0])\nshare = vote.exp() / vote.exp().sum()",
        ("share has nan", "exp(800) = inf", "inf / inf = nan"), (2,), "share = torch.softmax(vote, dim=0)",
    ),
    Confusion(
        "the spread of one sample",
        "trial = torch.zeros(1, 2)\nspread = trial.std(dim=0)",
        ("spread has nan", "only one sample", "n - 1 = 0"), (2,), "trial.std(dim=0, correction=0)",
    ),
    Confusion(
        "the slope of a norm at zero",
        "step = torch.zeros(3, requires_grad=True)\nlength = (step * step).sum().sqrt()\nlength.backward()",
        ("step.grad is nan", "slope of sqrt at 0, which is inf"), (2,), "step.norm()",
    ),
    Confusion(
        "a row that is masked as a whole",
        "logit = torch.zeros(2, 2)\nhidden = torch.tensor([[True, True], [False, True]])\n"
        "logit = logit.masked_fill(hidden, float('-inf'))\nattention = logit.softmax(dim=1)",
        ("attention has nan", "logit[0, :]", "0 / 0"), (4,), "logit.clamp(min=-1e9)",
    ),
    # ------------------------------------------------------------------------------------------ higher order
    Confusion(
        "a second derivative without a graph",
        "time = torch.tensor(1.5, requires_grad=True)\nspeed, = torch.autograd.grad(time ** 4, time)\n"
        "gain, = torch.autograd.grad(speed, time)",
        ("speed does not require grad", "create_graph was not set"), (2, 3),
        "speed, = torch.autograd.grad(time ** 4, time, create_graph=True)", "RuntimeError",
    ),
    Confusion(
        "a gradient that keeps a graph",
        "time = torch.tensor(1.5, requires_grad=True)\nway = time ** 4\nway.backward(create_graph=True)",
        ("time.grad requires grad", "keeps that whole graph alive"), (3,),
        "torch.autograd.grad(way, time, create_graph=True)",
    ),
    Confusion(
        "a derivative at a kink",
        "depth = torch.tensor([0.0, 2.0], requires_grad=True)\nloss = depth.abs().sum()\nloss.backward()",
        ("abs", "at its kink", "backward took 0"), (2,),
    ),
    Confusion(
        "gradcheck in single precision",
        "near = torch.tensor([0.2, 0.9], requires_grad=True)\ntorch.autograd.gradcheck(torch.exp, (near,))",
        ("near is float32", "rounding"), (1, 2), "dtype=torch.float64", "GradcheckError",
    ),
]  # fmt: skip
