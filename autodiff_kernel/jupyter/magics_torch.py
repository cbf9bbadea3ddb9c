"""`%as_torch`: code that was written for PyTorch runs in a notebook with its imports as they are."""

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from .base import ViewMagics


@magics_class
class TorchMagics(ViewMagics):
    """Whether `import torch` means this library."""

    @magic_arguments()
    @argument("switch", nargs="?", choices=["on", "off"], default="on", help="off: undo it (default: on)")
    @line_magic
    def as_torch(self, line: str) -> None:
        """Let `import torch` and `import torchvision` mean this library in this kernel, until it ends or `off`.

        It has to come before the first import of a real PyTorch.

        Example::

            %as_torch
            from torch import autograd
            type(torch.ones(2))
        """
        from autodiff_kernel import as_torch

        if parse_argstring(self.as_torch, line).switch == "off":
            as_torch.uninstall()
            return
        try:
            as_torch.install()
        except RuntimeError as error:
            raise UsageError(f"%as_torch: {error}") from None


LISTING = (
    ("%as_torch", "lets `import torch` and `import torchvision` mean this library, until %as_torch off"),
)
