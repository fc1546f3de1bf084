"""Claims about architectures, each checked by running it: `names()` lists them, `run()` measures them.

An identity is a function of a section's file that returns its findings. Its name here is the function's, with
dashes. The table below and the texts of `archcalc.identities.texts` are all that is known of it until `run` imports
the file, and with it PyTorch.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from archcalc.identities.finding import Bound, Finding, Findings, Outcome, Standing, Value
from archcalc.identities.texts import all_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from archcalc.identities.description import About

__all__ = [
    "Bound",
    "Finding",
    "Outcome",
    "Standing",
    "UnknownIdentityError",
    "Value",
    "about",
    "names",
    "run",
    "section",
]

# section: file: the identities in it, all in the order in which they are shown
SECTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "LSTM and GRU": {
        "lstm": ("lstm-gradients", "lstm-forget-gate", "lstm-cell-state", "cross-entropy"),
        "gru": ("gru-size", "gru-cost"),
        "gru_gates": ("gru-gates",),
    },
    "Seq2seq attention": {
        "tanh_range": ("tanh-range",),
        "location_score": ("location-score",),
    },
    "Attention": {
        "attention": ("orthogonal-inputs", "score-variance", "permutation"),
        "score_law": ("score-law",),
        "heads": ("sum-over-heads", "dense-layer"),
        "coordinates": ("projection-coordinates",),
        "two_keys": ("two-keys", "averaged-heads"),
        "noisy_keys": ("noisy-keys",),
        "equal_queries": ("equal-queries",),
    },
    "Softmax": {
        "softmax": ("softmax-zeros", "softmax-elementwise"),
        "score_scale": ("softmax-jacobian",),
    },
    "Position encodings": {
        "position": ("sinusoidal", "learned-positions", "relative-positions"),
        "shift_matrix": ("shift-matrix",),
        "wavelengths": ("sinusoid-wavelengths", "sinusoid-similarity"),
        "rope": ("rope", "rope-linear-attention", "rope-decay"),
        "alibi": ("alibi-slopes", "alibi-bias"),
    },
    "Vision Transformer": {
        "patches": ("patches",),
    },
    "Kernel attention": {
        "kernel": ("feature-map", "kernel-attention"),
        "kernel_cost": ("softmax-compute", "softmax-memory", "kernel-compute", "kernel-memory", "kernel-crossover"),
    },
    "Autoencoders": {
        "linear_autoencoder": ("linear-autoencoder", "pseudo-inverse"),
        "bottleneck": ("bottleneck",),
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
    """Every identity, in the order of the sections. Imports no PyTorch."""
    return list(PLACES)


def section(name: str) -> str:
    """The section in which an identity stands."""
    return PLACES[name][0]


def about(name: str) -> About:
    """Title, derivation and sources of an identity. Imports no PyTorch."""
    return all_texts()[name]


def run(names: Iterable[str] | None = None) -> Findings:
    """The findings of the named identities, or of all. No name is computed before every name is known."""
    wanted = list(PLACES) if names is None else list(names)
    for name in wanted:
        if name not in PLACES:
            raise UnknownIdentityError(name)
    from archcalc.identities.measure import one_thread

    with one_thread():
        return tuple(finding for name in wanted for finding in _measured(name))


def _measured(name: str) -> Findings:
    where, file = PLACES[name]
    identity = getattr(import_module(f"{__name__}.{file}"), name.replace("-", "_"))
    return tuple(replace(finding, identity=name, section=where) for finding in identity())
