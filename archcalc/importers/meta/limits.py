"""How large a model may be that transformers builds: by the config before, and by what is built meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from archcalc.core.errors import InputError

MOST_LAYERS = 10_000  # the deepest published models have some hundreds
MOST_ENTRIES = 1_000_000  # of what may be rows of a table: Doge has 16,384 experts as rows
MOST_TENSORS = 250_000  # Switch-C, with an expert to a module, has half of that
SECONDS = 120  # of computing; the largest published models take a few
MEMORY = 4 * 2**30  # bytes, of the process that builds; weights take none
_LAYERS = re.compile(r"(.*_)?(layers?|blocks?|depths?|stages?|heads?|codebooks?|quantizers?)")
_ENTRIES = re.compile(r"(.*_)?(experts?|labels|classes)")
_HINT = "check the config's sizes; archcalc reads larger models only where it reads the config itself"


def check_sizes(config: dict[str, Any]) -> None:
    """Refuse at once what would be built for hours: each layer is an object of its own, even without weights."""
    limits = {_LAYERS: MOST_LAYERS, _ENTRIES: MOST_ENTRIES}
    for key, number in _numbers(config):
        most = next((most for pattern, most in limits.items() if pattern.fullmatch(key)), number)
        if number > most:
            raise InputError(f"{number:,} is more than transformers can build: at most {most:,}", _HINT, field=key)


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number by the name that it stands under."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, key)
    elif isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        yield key, int(value)


@contextmanager
def counted(torch: Any) -> Iterator[None]:
    """Stop a class that keeps adding parameters or modules, or takes too long over them."""
    module, start = torch.nn.modules.module, time.process_time()
    number = 0

    def registered(*_: Any) -> None:
        nonlocal number
        number += 1
        if number > 2 * MOST_TENSORS or time.process_time() - start > SECONDS:
            raise InputError(f"transformers was still building after {number:,} parameters and modules", _HINT)

    with ExitStack() as hooks:
        for kind in ("parameter", "module"):
            hook = getattr(module, f"register_module_{kind}_registration_hook")(registered)
            hooks.callback(hook.remove)
        yield
