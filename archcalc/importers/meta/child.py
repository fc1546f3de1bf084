"""The process in which `--trace` builds a class: its own, so that time and memory have an end. JSON in, JSON out."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.meta.build import built, needed
from archcalc.importers.meta.cleaned import Cleaned
from archcalc.importers.meta.limits import MEMORY, SECONDS

PURPOSE = "--trace builds the model with"


def main() -> None:
    """What transformers prints must not get into the answer."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    try:
        found = _traced(asked["config"], asked["dtype"])
    except InputError as error:
        found = {"fact": error.fact, "hint": error.hint, "field": error.field}
    json.dump(found, answer)
    answer.close()
    os._exit(0)  # at once: half a million objects need not be taken apart


def _traced(config: Cleaned, dtype: str) -> dict[str, Any]:
    torch, transformers = (needed(name, PURPOSE, "trace") for name in ("torch", "transformers"))
    torch.set_num_threads(1)
    _limit()
    model = built(config, torch=torch, transformers=transformers, dtype=dtype, every_thread=True)
    return {
        "class": type(model).__name__,
        "version": transformers.__version__,
        "tensors": {
            name: [str(one.dtype).removeprefix("torch."), list(one.shape), one.numel() * one.element_size()]
            for name, one in model.named_parameters()
        },
    }


def _limit() -> None:
    """Of memory and of computing, beyond what torch and transformers took. Windows has no such limits."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    with contextlib.suppress(OSError, ValueError):  # a stricter limit may hold already
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, resource.RLIM_INFINITY))
    with contextlib.suppress(OSError, ValueError):  # macOS has no /proc, and does not keep to this limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
