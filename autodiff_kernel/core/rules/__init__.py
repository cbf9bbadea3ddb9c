"""The table of rules, one file per family of operations.

The families that few lessons use are not here: `late.py` loads them with the first question for one of their names.
"""

from . import (
    activations as activations,
)
from . import (
    along as along,
)
from . import (
    arithmetic as arithmetic,
)
from . import (
    bitwise as bitwise,
)
from . import (
    casting as casting,
)
from . import (
    comparison as comparison,
)
from . import (
    complexes as complexes,
)
from . import (
    cumulative as cumulative,
)
from . import (
    division as division,
)
from . import (
    einsum as einsum,
)
from . import (
    elementwise as elementwise,
)
from . import (
    extremes as extremes,
)
from . import (
    gamma as gamma,
)
from . import (
    indexing as indexing,
)
from . import (
    joining as joining,
)
from . import (
    layers as layers,
)
from . import (
    masks as masks,
)
from . import (
    norms as norms,
)
from . import (
    orders as orders,
)
from . import (
    parts as parts,
)
from . import (
    picking as picking,
)
from . import (
    products as products,
)
from . import (
    reductions as reductions,
)
from . import (
    repeats as repeats,
)
from . import (
    rounding as rounding,
)
from . import (
    scatter as scatter,
)
from . import (
    scatter_reduce as scatter_reduce,
)
from . import (
    selection as selection,
)
from . import (
    shapes as shapes,
)
from . import (
    softmax as softmax,
)
from . import (
    sorting as sorting,
)
from . import (
    splitting as splitting,
)
from . import (
    sums_of_products as sums_of_products,
)
from . import (
    tensor_products as tensor_products,
)
from . import (
    two_numbers as two_numbers,
)
from . import (
    variance as variance,
)
from . import (
    writing as writing,
)
