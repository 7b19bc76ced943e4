"""``python -m autograder`` is the ``autograder`` command."""

import sys

from autograder.cli import main

sys.exit(main())
