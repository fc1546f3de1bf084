"""Claims about architectures, each checked by running it: `names()` lists them, `run()` measures them.

An identity is a function of a section's file that returns its findings. Its name here is the function's, with
dashes; the table below is all that is known of it until `run` imports the file, and with it PyTorch.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from archcalc.identities.finding import Finding, Findings, Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "Standing", "UnknownIdentityError", "names", "run"]

# section: file: the identities in it, all in the order in which they are shown
SECTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "LSTM and GRU": {
        "lstm": ("lstm-gradients", "lstm-forget-gate", "lstm-cell-state", "cross-entropy"),
        "gru": ("gru-size", "gru-cost"),
    },
    "Attention": {
        "attention": ("orthogonal-inputs", "score-variance", "permutation"),
        "heads": ("sum-over-heads", "dense-layer"),
        "two_keys": ("two-keys", "averaged-heads"),
    },
    "Position encodings": {
        "position": ("sinusoidal", "learned-positions", "relative-positions"),
        "rope": ("rope", "rope-linear-attention", "rope-decay"),
        "alibi": ("alibi-slopes", "alibi-bias"),
    },
    "Kernel attention": {
        "kernel": ("feature-map", "kernel-attention"),
        "kernel_cost": ("softmax-compute", "softmax-memory", "kernel-crossover"),
    },
    "Autoencoders": {
        "linear_autoencoder": ("linear-autoencoder", "pseudo-inverse"),
        "recursive_autoencoder": ("recursive-autoencoder",),
    },
}

PLACES = {
    name: (section, file)
    for section, files in SECTIONS.items()
    for file, identities in files.items()
    for name in identities
}


class UnknownIdentityError(LookupError):
    """No identity has this name; `closest` are those that look like it, best first."""

    def __init__(self, name: str) -> None:
        """Looks for the names most like it, and says them."""
        self.name = name
        self.closest = tuple(get_close_matches(name, PLACES, n=3, cutoff=0.4))
        known = f"closest: {', '.join(self.closest)}" if self.closest else f"known: {', '.join(PLACES)}"
        super().__init__(f"no identity is called {name!r}; {known}")


def names() -> list[str]:
    """Every identity, in the order of the sections. Imports nothing."""
    return list(PLACES)


def run(names: Iterable[str] | None = None) -> Findings:
    """The findings of the named identities, or of all. No name is computed before every name is known."""
    wanted = list(PLACES) if names is None else list(names)
    for name in wanted:
        if name not in PLACES:
            raise UnknownIdentityError(name)
    return tuple(finding for name in wanted for finding in _measured(name))


def _measured(name: str) -> Findings:
    section, file = PLACES[name]
    identity = getattr(import_module(f"{__name__}.{file}"), name.replace("-", "_"))
    return tuple(replace(finding, identity=name, section=section) for finding in identity())
