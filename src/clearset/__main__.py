"""``python -m clearset``: the command line."""

import sys

from clearset.cli import main

if __name__ == "__main__":
    sys.exit(main())
