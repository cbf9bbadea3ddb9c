"""`python -m autodiff_kernel` is the command `autodiff-kernel`."""

import sys

from autodiff_kernel.cli import main

sys.exit(main())
