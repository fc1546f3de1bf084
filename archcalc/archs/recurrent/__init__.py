"""Recurrent nets: LSTM, GRU and plain RNN, alone or as encoder and decoder with attention."""

from archcalc.archs.recurrent.build import build
from archcalc.archs.recurrent.resolve import defaults, resolve
from archcalc.archs.recurrent.spec import Spec

__all__ = ["Spec", "build", "defaults", "resolve"]
