"""Data for lessons, without a download: made up, drawn, or read from files that are on disk already.

    moons(n) circles(n) spirals(n) blobs(n)   points in classes
    regression(n)                             points about a line or plane
    digits(n, size)  shapes(n)                images drawn by a few lines of code
    words() names() sentences(n)              text
    MNIST(root) FashionMNIST(root) CIFAR10(root)   readers of the well-known files
    stand_in("MNIST", root)                   drawn images in such files, for code that reads them

What is made up depends on `seed` alone, and leaves torch's random numbers as they are.
"""

from ..core.places import claim as _claim
from .cifar import CIFAR10 as CIFAR10
from .drawn import SHAPES as SHAPES
from .drawn import digits as digits
from .drawn import shapes as shapes
from .files import ImageFiles as ImageFiles
from .mnist import MNIST as MNIST
from .mnist import FashionMNIST as FashionMNIST
from .mnist import read_idx as read_idx
from .mnist import write_idx as write_idx
from .points import blobs as blobs
from .points import circles as circles
from .points import moons as moons
from .points import regression as regression
from .points import spirals as spirals
from .standing_in import stand_in as stand_in
from .words import names as names
from .words import sentences as sentences
from .words import words as words

_claim()
