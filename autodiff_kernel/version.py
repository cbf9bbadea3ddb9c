"""The version of the package, told once; and what PyTorch's `torch.version` says of how it was built."""

__version__ = "0.1.0"
cuda = None  # the version of CUDA it was built for: GPUs come through CuPy, which brings its own
hip = None
git_version = None
debug = False
