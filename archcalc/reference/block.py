"""A Transformer's block: its parts, with the norms around them and the sums that join them."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cache import Cache
from archcalc.reference.layers import Dropout, Weight, add, make_norm, run
from archcalc.reference.parts import make_part


class Block(nn.Module):
    """x + part(x) for each part, with norms before, after, or around; or all parts beside each other."""

    def __init__(self, parts: list[Config], stack: Config, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        d_model, parallel = stack["d_model"], stack["parallel"]
        self.parallel, self.options = parallel, options
        self.steps: list[tuple[str, str]] = []
        for index, part in enumerate(parts):
            earlier = sum(other["name"] == part["name"] for other in parts[:index])
            name, place = part["name"], part["norm"]["place"]
            if earlier:
                name = f"{name}_{earlier + 1}"
            self.steps.append((name, place))
            self.add_module(name, make_part(part, d_model, memory_width, options))
            if parallel != "shared" and (parallel == "separate" or place != "out"):
                add(self, f"{name}_norm", make_norm(part["norm"], d_model))
            if place in ("out", "sandwich"):
                add(self, f"{name}_norm_out", make_norm(part["norm"], d_model))
            if part["layer_scale"]:
                self.add_module(f"{name}_scale", Scale(d_model, start=torch.ones))
        if parallel == "shared":
            add(self, "norm", make_norm(parts[0]["norm"], d_model))
        self.dropout = Dropout(parts[0]["dropout"])

    def forward(self, names: list[str], cache: Cache | None, x: Tensor, *tensors: Tensor) -> Tensor:
        given = dict(zip(names, tensors, strict=True))
        if self.parallel:  # every part reads the same x, through one norm for all or one each
            shared = run(self, "norm", x)
            return x + sum(
                self._branch(name, run(self, f"{name}_norm", shared), given, cache) for name, _ in self.steps
            )
        for name, place in self.steps:
            branch = x
            if place in ("pre", "sandwich"):
                branch = run(self, f"{name}_norm", x)
            x = x + self._branch(name, branch, given, cache)
            if place == "post":
                x = run(self, f"{name}_norm", x)
        return x

    def _branch(self, name: str, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> Tensor:
        branch = run(self, f"{name}_scale", self.get_submodule(name)(x, given, cache))
        return run(self, f"{name}_norm_out", self.dropout(branch))


class Scale(Weight):
    """A learned vector on a branch."""

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight
