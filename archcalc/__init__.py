"""archcalc: exact shapes, parameters and costs of neural-network architectures.

>>> import archcalc
>>> archcalc.load("gpt2").params().total
124439808
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` says it, which takes longer to load than all that is here
if TYPE_CHECKING:
    from typing import Any

    from archcalc.analyze.compare.answer import compare
    from archcalc.analyze.fit.answer import fit
    from archcalc.analyze.plot.answer import plot
    from archcalc.catalog.gpus import gpus
    from archcalc.catalog.presets import presets
    from archcalc.core.errors import InputError
    from archcalc.loading import load
    from archcalc.model import Model
    from archcalc.version import __version__

__all__ = ["InputError", "Model", "__version__", "compare", "fit", "gpus", "load", "plot", "presets"]

_HOMES = {
    "compare": "archcalc.analyze.compare.answer",
    "fit": "archcalc.analyze.fit.answer",
    "gpus": "archcalc.catalog.gpus",
    "load": "archcalc.loading",
    "plot": "archcalc.analyze.plot.answer",
    "presets": "archcalc.catalog.presets",
    "Model": "archcalc.model",
    "InputError": "archcalc.core.errors",
    "__version__": "archcalc.version",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `archcalc --help` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'archcalc' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
