"""``python -m sparsezc`` is the command ``sparsezc``."""

import sys

from sparsezc.cli import main

if __name__ == "__main__":
    sys.exit(main())
