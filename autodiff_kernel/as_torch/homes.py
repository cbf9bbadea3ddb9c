"""In which of PyTorch's modules each of its public classes is defined: what `type(x)` prints there.

`CLASSES` is read both ways: from our class to the name it goes by under `install()`, and from PyTorch's module (which we
may have laid out otherwise) to the names that can be imported from it.
"""

ROOT = __package__.partition(".")[0]

# PyTorch's module: the classes defined there, those that teaching code may print, import or pickle
CLASSES: dict[str, tuple[str, ...]] = {
    module: tuple(names.split())
    for module, names in {
        "torch": "Size Tensor device dtype finfo iinfo layout memory_format OutOfMemoryError BoolTensor ByteTensor "
        "CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor",
        "torch._C": "Generator",
        "torch.amp.autocast_mode": "autocast",
        "torch.amp.grad_scaler": "GradScaler",
        "torch.autograd.anomaly_mode": "detect_anomaly set_detect_anomaly",
        "torch.autograd.forward_ad": "UnpackedDualTensor dual_level",
        "torch.autograd.function": "BackwardCFunction Function FunctionCtx FunctionMeta InplaceFunction",
        "torch.autograd.grad_mode": "enable_grad inference_mode no_grad set_grad_enabled set_multithreading_enabled",
        "torch.autograd.graph": "GradientEdge Node save_on_cpu saved_tensors_hooks",
        "torch.autograd.variable": "Variable",
        "torch.cuda": "device device_of StreamContext",
        "torch.cuda.streams": "Event Stream",
        "torch.distributions.constraints": "Constraint MixtureSameFamilyConstraint",
        "torch.distributions.exp_family": "ExponentialFamily",
        "torch.distributions.half_cauchy": "HalfCauchy",
        "torch.distributions.half_normal": "HalfNormal",
        "torch.distributions.transforms": "AbsTransform AffineTransform CatTransform ComposeTransform "
        "CorrCholeskyTransform CumulativeDistributionTransform ExpTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform SigmoidTransform "
        "SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform TanhTransform Transform",
        "torch.nn.modules.activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
        "LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus "
        "Softshrink Softsign Tanh Tanhshrink Threshold",
        "torch.nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
        "torch.nn.modules.batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d "
        "LazyBatchNorm3d SyncBatchNorm",
        "torch.nn.modules.channelshuffle": "ChannelShuffle",
        "torch.nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
        "torch.nn.modules.conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d "
        "LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
        "torch.nn.modules.distance": "CosineSimilarity PairwiseDistance",
        "torch.nn.modules.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
        "torch.nn.modules.flatten": "Flatten Unflatten",
        "torch.nn.modules.fold": "Fold Unfold",
        "torch.nn.modules.instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
        "LazyInstanceNorm2d LazyInstanceNorm3d",
        "torch.nn.modules.linear": "Bilinear Identity LazyLinear Linear",
        "torch.nn.modules.loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss "
        "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss "
        "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
        "TripletMarginLoss TripletMarginWithDistanceLoss",
        "torch.nn.modules.module": "Module",
        "torch.nn.modules.normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
        "torch.nn.modules.padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d "
        "ZeroPad2d ZeroPad3d",
        "torch.nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
        "torch.nn.modules.pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d "
        "LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
        "torch.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
        "torch.nn.modules.sparse": "Embedding EmbeddingBag",
        "torch.nn.modules.transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
        "TransformerEncoderLayer",
        "torch.nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
        "torch.nn.parallel.data_parallel": "DataParallel",
        "torch.nn.parameter": "Buffer Parameter UninitializedBuffer UninitializedParameter",
        "torch.nn.utils.rnn": "PackedSequence",
        "torch.optim.adadelta": "Adadelta",
        "torch.optim.adagrad": "Adagrad",
        "torch.optim.adam": "Adam",
        "torch.optim.adamax": "Adamax",
        "torch.optim.adamw": "AdamW",
        "torch.optim.asgd": "ASGD",
        "torch.optim.lbfgs": "LBFGS",
        "torch.optim.lr_scheduler": "ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR "
        "ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR "
        "ReduceLROnPlateau SequentialLR StepLR",
        "torch.optim.nadam": "NAdam",
        "torch.optim.optimizer": "Optimizer",
        "torch.optim.radam": "RAdam",
        "torch.optim.rmsprop": "RMSprop",
        "torch.optim.rprop": "Rprop",
        "torch.optim.sgd": "SGD",
        "torch.optim.sparse_adam": "SparseAdam",
        "torch.optim.swa_utils": "AveragedModel SWALR",
        "torch.storage": "TypedStorage UntypedStorage",
        "torch.utils.checkpoint": "CheckpointError CheckpointPolicy SelectiveCheckpointContext",
        "torch.utils.data.dataloader": "DataLoader",
        "torch.utils.data.dataset": "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset",
        "torch.utils.data.distributed": "DistributedSampler",
        "torch.utils.data.sampler": "BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler "
        "WeightedRandomSampler",
        "torch.utils.hooks": "RemovableHandle",
        "torchvision.datasets.cifar": "CIFAR10",
        "torchvision.datasets.mnist": "FashionMNIST MNIST",
        "torchvision.models.resnet": "BasicBlock ResNet",
        "torchvision.transforms.transforms": "CenterCrop Compose ConvertImageDtype Grayscale Lambda Normalize Pad "
        "RandomCrop RandomHorizontalFlip RandomRotation Resize ToPILImage ToTensor",
    }.items()
}

_HOMES: dict[str, list[str]] = {}  # class name: the modules of PyTorch that define one of this name
for _module, _names in CLASSES.items():
    for _name in _names:
        _HOMES.setdefault(_name, []).append(_module)

# The parts of this package that PyTorch knows nothing of: their classes keep their names.
_OURS = {
    "core",
    "dialect",
    "explain",
    "views",
    "jupyter",
    "as_torch",
    "datasets",
    "handout",
    "cli",
    "namespace",
}


# PyTorch's modules that have a file of ours elsewhere
_ELSEWHERE = {"torch.return_types": f"{ROOT}.core.return_types", "torch.storage": f"{ROOT}.core.storages"}


def ours(name: str) -> str | None:
    """The module of ours that has the place of one of PyTorch's or torchvision's; None for anybody else's.

    >>> ours("torch.nn.functional"), ours("torchvision.transforms"), ours("numpy.linalg")
    ('autodiff_kernel.nn.functional', 'autodiff_kernel.vision.transforms', None)
    """
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    top, dot, rest = name.partition(".")
    if top == "torch":
        return f"{ROOT}{dot}{rest}"
    return f"{ROOT}.vision{dot}{rest}" if top == "torchvision" else None


def theirs(name: str) -> str | None:
    """The other way round: what PyTorch calls a module of ours; None for a module that only we have.

    >>> theirs("autodiff_kernel.nn.functional"), theirs("autodiff_kernel.vision.utils"), theirs("autodiff_kernel.core.op")
    ('torch.nn.functional', 'torchvision.utils', None)
    """
    parts = name.split(".")
    if parts[0] != ROOT or (len(parts) > 1 and parts[1] in _OURS):
        return None
    return ".".join(["torchvision", *parts[2:]] if parts[1:2] == ["vision"] else ["torch", *parts[1:]])


def home(module: str, name: str) -> str | None:
    """PyTorch's module for the class `name` that our `module` defines; None where PyTorch has no such class.

    A class of `core` is PyTorch's if it is in the table; of the other modules those are that have a namesake there.

    >>> home("autodiff_kernel.core.tensor", "Tensor"), home("autodiff_kernel.core.op", "Op")
    ('torch', None)
    >>> home("autodiff_kernel.nn.modules.linear", "Linear"), home("autodiff_kernel.fft", "Shape")
    ('torch.nn.modules.linear', 'torch.fft')
    """
    own = theirs(module)
    homes = _HOMES.get(name, [])
    if own is None:
        known = module.startswith((f"{ROOT}.core.", f"{ROOT}.datasets."))
        return homes[0] if known and homes else None
    near = [there for there in homes if there.split(".")[:2] == own.split(".")[:2]]
    return near[0] if near else own


def names_in(module: str) -> tuple[str, ...]:
    """The classes that can be imported from one of PyTorch's modules or from a package of such modules."""
    return CLASSES.get(module) or names_below(module)


def names_below(module: str) -> tuple[str, ...]:
    """The classes of the modules below one of PyTorch's."""
    return tuple(name for there, names in CLASSES.items() if there.startswith(f"{module}.") for name in names)
