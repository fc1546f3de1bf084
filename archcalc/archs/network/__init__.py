"""Networks written layer by layer: feed-forward and convolutional nets, with blocks, branches and skips.

family: network
input: 1 × 28 × 28
layers:
  - {conv: 6, kernel: 5, padding: 2, act: tanh}
  - {pool: average, kernel: 2}
  - flatten
  - {linear: 10}
"""

from archcalc.archs.network.build import build
from archcalc.archs.network.resolve import Network, defaults, resolve
from archcalc.archs.network.spec import Spec

__all__ = ["Network", "Spec", "build", "defaults", "resolve"]
