"""Sizes that a spec leaves out and that follow from others, such as the width of a head from d_model and heads."""

from __future__ import annotations


class Derived(int):
    """A size like any other, except for `archcalc verify`: the reference is not told it, and works it out itself."""
