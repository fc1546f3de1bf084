"""Autoencoders: linear, deep and variational ones of fully connected layers, and the recursive one over a sentence."""

from archcalc.archs.autoencoder.build import build
from archcalc.archs.autoencoder.resolve import defaults, resolve
from archcalc.archs.autoencoder.spec import Spec

__all__ = ["Spec", "build", "defaults", "resolve"]
