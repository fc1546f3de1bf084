"""The version of archcalc."""

__version__ = "0.1.0"
