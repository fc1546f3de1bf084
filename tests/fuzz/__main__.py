"""`python -m tests.fuzz`: run many cases, or replay one."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest has it: `fuzz` beside the tests' other helpers

from fuzz.command import main

sys.exit(main())
