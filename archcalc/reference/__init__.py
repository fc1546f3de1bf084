"""Every family a second time, in plain PyTorch, and how PyTorch is measured.

Nothing here imports the rest of archcalc: a model is built from a dict of plain values, and every number comes from
PyTorch itself. Sizes that archcalc derives from others are not in it (`archcalc.core.derived`) and are worked out here.
That is what makes agreement mean something.
"""

from typing import Any

Config = dict[str, Any]  # a resolved spec, or a part of it, as plain values
