"""The engine.  Importing any part of it loads the whole: functions and methods are made from the table of rules.

(Only rare families of rows come later, see late.py.)
"""

import warnings

# PyTorch is silent where NumPy warns (log of 0, overflow).  The user's own NumPy still warns.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autodiff_kernel(\.|$)")

from . import draws as draws  # noqa: E402
from . import inference as inference  # noqa: E402
from . import journal as journal  # noqa: E402
from . import late as late  # noqa: E402
from . import pinning as pinning  # noqa: E402
from . import places as places  # noqa: E402
from . import questions as questions  # noqa: E402
from . import rules as rules  # noqa: E402
from . import sequences as sequences  # noqa: E402
from . import settings as settings  # noqa: E402
from . import traits as traits  # noqa: E402

places.claim()
