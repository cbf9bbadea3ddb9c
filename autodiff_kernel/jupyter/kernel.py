"""The Autodiff kernel: an IPython kernel with our extension loaded, `torch` at hand and a working `;`."""

import sys
import threading
from typing import Any

import ipykernel.zmqshell
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.ipkernel import IPythonKernel
from traitlets import List, Type

import autodiff_kernel
from autodiff_kernel.version import __version__


class DisplayHook(ZMQShellDisplayHook):
    """A display hook that honours a trailing `;` in every cell.

    IPython looks for the `;` in its history. A cell that is run without history (as nbval, widgets and some editors
    do) is not in there, so the last remembered cell decides and the value is shown. The cell being run is known
    from the result it will fill in.
    """

    def quiet(self) -> bool:
        info = getattr(self.exec_result, "info", None)
        if info is None or info.store_history:
            return bool(super().quiet())
        if ";" not in info.raw_cell:
            return False
        shell: Any = self.shell
        cell = getattr(info, "transformed_cell", None) or shell.transform_cell(info.raw_cell)
        return _ends_with_semicolon(cell)


def _ends_with_semicolon(cell: str) -> bool:
    """Whether the last token of the code, comments aside, is a `;`."""
    import io
    import tokenize

    trivia = (tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT)
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(cell).readline) if t.type not in trivia]
    return bool(tokens) and tokens[-1].string == ";"


# Libraries recognise a notebook by the name of the shell's class (rich, tqdm and others), so ours has the same.
class ZMQInteractiveShell(ipykernel.zmqshell.ZMQInteractiveShell):
    """The kernel's shell with our display hook, and `torch` in every fresh namespace."""

    displayhook_class = Type(DisplayHook)

    def init_user_ns(self) -> None:
        super().init_user_ns()
        self.user_ns["torch"] = autodiff_kernel
        self.user_ns_hidden["torch"] = autodiff_kernel  # `%who` lists what the user made


class AutodiffKernel(IPythonKernel):
    """The kernel behind the "Autodiff" tile of Jupyter's launcher."""

    shell: Any
    io_loop: Any
    _is_ready = False
    _getting_ready = threading.RLock()
    implementation = "autodiff"
    implementation_version = __version__
    shell_class = Type(ZMQInteractiveShell)
    help_links = List(
        [
            {
                "text": "Python",
                "url": f"https://docs.python.org/{sys.version_info.major}.{sys.version_info.minor}",
            },
            {"text": "PyTorch, whose API this is", "url": "https://docs.pytorch.org/docs/stable/"},
            {"text": "NumPy", "url": "https://numpy.org/doc/stable/"},
            {"text": "Matplotlib", "url": "https://matplotlib.org/stable/"},
            {"text": "IPython", "url": "https://ipython.readthedocs.io/en/stable/"},
        ]
    ).tag(config=True)

    # The engine and NumPy take longer to import than Jupyter to start.  So the kernel says first that it is there, and
    # loads them while the user looks at the notebook; whoever is faster waits in the first cell.
    async def kernel_info_request(self, *args: Any, **kwargs: Any) -> None:
        await super().kernel_info_request(*args, **kwargs)
        self.io_loop.add_callback(self.get_ready)  # Jupyter may ask on the control channel's thread

    async def do_execute(self, *args: Any, **kwargs: Any) -> Any:
        self.get_ready()
        return await super().do_execute(*args, **kwargs)

    def do_complete(self, *args: Any, **kwargs: Any) -> Any:
        self.get_ready()
        return super().do_complete(*args, **kwargs)

    def do_inspect(self, *args: Any, **kwargs: Any) -> Any:
        self.get_ready()
        return super().do_inspect(*args, **kwargs)

    def get_ready(self) -> None:
        """Load the extension, and the engine with it; a second call does nothing."""
        if not self._is_ready:
            with self._getting_ready:
                if not self._is_ready:
                    self.shell.extension_manager.load_extension("autodiff_kernel")
                    self._is_ready = True

    @property
    def banner(self) -> str:  # type: ignore[override]
        return (
            f"Autodiff {__version__} · Python {sys.version.split()[0]}\n"
            "`torch` is autodiff_kernel: PyTorch's names and results, with everything to be seen.\n"
            "%graph y draws the graph of y, %why explains the last error or what is odd; %autodiff lists all magics.\n"
        )
