"""``python -m taxosphere``, where the command itself is not on the path."""

import sys

from taxosphere.cli import main

sys.exit(main())
