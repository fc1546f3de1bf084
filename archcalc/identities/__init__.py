"""Claims about architectures, each checked by running it: `names()` lists them, `run()` measures them.

An identity is a function of a section's file that returns its findings. Its name here is the function's, with
dashes. What presets/identities says is all that is known of it until `run` imports the file, and with it PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from archcalc.identities.finding import Bound, Finding, Findings, Outcome, Standing, Value
from archcalc.identities.texts import About, sections

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
    "sections",
]


@cache
def _places() -> dict[str, tuple[str, About]]:
    """Every identity by its name, with its section."""
    return {name: (each.title, known) for each in sections() for name, known in each.identities.items()}


class UnknownIdentityError(LookupError):
    """No identity has this name; `closest` are those that look like it, best first."""

    def __init__(self, name: str) -> None:
        """Looks for the names most like it, and says them."""
        self.name = name
        self.closest = tuple(get_close_matches(name, names(), n=3, cutoff=0.4))
        known = f"closest: {', '.join(self.closest)}" if self.closest else f"known: {', '.join(names())}"
        super().__init__(f"no identity is called {name!r}; {known}")


def names() -> list[str]:
    """Every identity, in the order of the sections. Imports no PyTorch."""
    return list(_places())


def section(name: str) -> str:
    """The section in which an identity stands."""
    return _places()[name][0]


def about(name: str) -> About:
    """Title, derivation and sources of an identity. Imports no PyTorch."""
    return _places()[name][1]


def run(names: Iterable[str] | None = None) -> Findings:
    """The findings of the named identities, or of all. No name is computed before every name is known."""
    wanted = list(_places() if names is None else names)
    for name in wanted:
        if name not in _places():
            raise UnknownIdentityError(name)
    from archcalc.identities.measure import one_thread

    found: list[Finding] = []
    with one_thread():
        for name in wanted:
            identity = getattr(import_module(f"{__name__}.{about(name).file}"), name.replace("-", "_"))
            found += [replace(finding, identity=name, section=section(name)) for finding in identity()]
    return tuple(found)
