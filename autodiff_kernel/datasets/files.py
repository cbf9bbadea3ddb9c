"""Sets of images that lie on disk: what their readers share, and what they say where the files are missing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..utils.data import Dataset


class ImageFiles(Dataset[Any]):
    """A set of labelled images read from files; an item is (image, label), each after its transform.

    root: the folder.  train: the training set, else the test set.  transform: applied to each image, a PIL image;
    target_transform: to each label, an int.  download: accepted, as scripts say it; nothing is ever downloaded.
    """

    name = ""
    classes: Sequence[str] = ()
    data: Any
    targets: Any

    def __init__(
        self,
        root: str | Path,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
    ) -> None:
        self.root, self.train = Path(root).expanduser(), bool(train)
        self.transform, self.target_transform = transform, target_transform
        self.data, self.targets = self._read()

    def _read(self) -> tuple[Any, Any]:
        """The images and the labels."""
        raise NotImplementedError

    def _image(self, index: int) -> Any:
        """One image as a NumPy array: (H, W) or (H, W, C), uint8."""
        return self.data[index].numpy()

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        image, target = Image.fromarray(self._image(index)), int(self.targets[index])
        return (
            image if self.transform is None else self.transform(image),
            target if self.target_transform is None else self.target_transform(target),
        )

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    def __repr__(self) -> str:
        lines = [
            f"Dataset {type(self).__name__}",
            f"Number of datapoints: {len(self)}",
            f"Root location: {self.root}",
            f"Split: {'Train' if self.train else 'Test'}",
        ]
        for title, transform in (("Transform", self.transform), ("Target transform", self.target_transform)):
            if transform is not None:
                first, *more = repr(transform).split("\n")
                lines += [f"{title}: {first}", *(" " * (len(title) + 2) + line for line in more)]
        if len(lines) > 4:
            lines.insert(4, "StandardTransform")
        return "\n    ".join(lines)

    def _find(self, folders: Sequence[str], names: Sequence[str]) -> list[Path]:
        """The files with these names, all in the first of the folders that has them; each may be compressed (.gz).

        Raises RuntimeError where there are none, saying where to put them.
        """
        for folder in folders:
            found = [self._either(self.root / folder / name) for name in names]
            if all(found):
                return [path for path in found if path is not None]
        raise RuntimeError(
            f"Dataset not found. {type(self).__name__} looks for {', '.join(names)} in {self.root / folders[0]}.\n"
            f"Nothing is downloaded here, download=True or not. What to do: put the files of {self.name} there yourself, or "
            f"let this library draw images in their place:\n"
            f"    autodiff_kernel.datasets.stand_in({type(self).__name__!r}, {str(self.root)!r})"
        )

    @staticmethod
    def _either(path: Path) -> Path | None:
        for there in (path, path.with_name(path.name + ".gz")):
            if there.is_file():
                return there
        return None
