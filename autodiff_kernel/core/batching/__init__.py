"""How operations run on all samples at once: what the word `batch` of a row means, one file per family.

A rule gets the row, its inputs, which of them hold all samples (with the batch as dimension 0), the parameters for one
sample, and the number of samples.  It gives the results for all samples, the batch first, by calling rows of the
table: so whatever those record, and whatever wraps their inputs, works here too.

    elementwise  broadcasting lines up shapes from the right: the batch stays in front of dimensions of size 1
    reduction, along, …  the dimension that the parameters name moves on by one
    "ij,jk->ik"  a product, by its letters
"""

from ..places import claim
from . import convolution as convolution
from . import elementwise as elementwise
from . import indexing as indexing
from . import layers as layers
from . import picking as picking
from . import products as products
from . import reductions as reductions
from . import shapes as shapes

claim()  # loaded late: its lines are ours all the same, not the user's
