"""Constants shared by all blocks of a stack: masks, RoPE tables, relative positions, score biases."""

from functools import partial
from typing import Any

from torch import Tensor, nn

from archcalc.reference import Config, positions
from archcalc.reference.attention import is_flash
from archcalc.reference.relative import distance_rows
from archcalc.reference.sight import hidden_from_last, hidden_from_sight, needs_mask


class Constants:
    """By name, for every kind of attention; what several kinds share is made once."""

    def __init__(self, stack: nn.Module, x: Tensor, start: int, options: dict[str, str], made: Any = None) -> None:
        self.stack, self.x, self.start, self.length, self.options = stack, x, start, x.shape[1], options
        self.given: dict[str, Tensor] = {}
        self.made: dict[Any, Any] = {} if made is None else made

    def add(self, part: Config) -> None:
        """A mask, and what each of its position encodings needs."""
        sight, device = part["sight"], self.x.device
        if self.start and sight["chunk"]:
            self.given[f"mask {part['name']}"] = hidden_from_last(sight["chunk"], self.start, device)
        elif not self.start and needs_mask(part) and (part.get("indexer") or not is_flash(part, self.options)):
            mask = self._once(str(sight), lambda: hidden_from_sight(sight, self.length, device))
            self.given[f"mask {part['name']}"] = mask
        kinds = {"rope": self._rope, "alibi": self._alibi, "relative": self._relative}
        kinds |= {"disentangled": self._disentangled, "shaw": self._shaw, "transformer-xl": self._segments}
        for settings in part["positions"]:
            kinds[settings["kind"]](part, settings)

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _rope(self, part: Config, settings: Config) -> None:
        width, theta = part["rotated"], settings["theta"]
        make: Any = partial(positions.rotations, self.start, self.length, width, theta, self.x)
        if settings["stored"]:
            make = self._looked_up
        both = self._once((theta, width), make)
        self.given[f"cosines {part['name']}"], self.given[f"sines {part['name']}"] = both

    def _looked_up(self) -> tuple[Tensor, Tensor]:
        """Both halves of a head alike."""
        sines, cosines = self.stack.get_submodule("position")(self.start, self.length).chunk(2, dim=-1)
        return cosines.repeat(1, 2), sines.repeat(1, 2)

    def _disentangled(self, part: Config, settings: Config) -> None:
        """The stack's table, which is made whether or not a term reads it, and where each distance stands in it."""
        table = self._once("table", self.stack.get_submodule("position"))
        if settings["terms"]:
            rows = self._once("rows", lambda: distance_rows(settings, self.length, self.x.device))
            self.given[f"table {part['name']}"], self.given[f"distances {part['name']}"] = table, rows

    def _shaw(self, part: Config, settings: Config) -> None:
        """The row of every pair's distance, clipped to either side."""
        limit, places = settings["distance"], range(self.start, self.start + self.length)
        make = partial(positions.clipped, places, limit, self.x.device)
        self.given[f"distances {part['name']}"] = self._once(("shaw", limit), make)

    def _segments(self, part: Config, settings: Config) -> None:
        """Sinusoids of all distances, the largest first, and the stack's biases."""
        name, number = part["name"], settings["memory"] + self.start + self.length
        width, make = self.x.shape[-1], positions.sinusoids
        encodings = self._once(("encodings", number), lambda: make(0, number, width, self.x).flip(0))
        self.given[f"encodings {name}"] = encodings
        if settings["shared"]:
            for which in ("content", "position"):
                self.given[f"{which} bias {name}"] = self.stack.get_parameter(f"position.{which}_bias")

    def _alibi(self, part: Config, settings: Config) -> None:
        if not is_flash(part, self.options):
            heads, make = part["heads"], positions.alibi
            bias = self._once(("alibi", heads), lambda: make(heads, self.start, self.length, self.x))
            self.given[f"bias {part['name']}"] = bias

    def _relative(self, part: Config, settings: Config) -> None:
        """In buckets, or on the grid of an image; the stack's table makes a bias of them, or a block's own does."""
        number, causal = settings["buckets"], part["sight"]["causal"]
        sizes = {"causal": causal, "device": self.x.device}
        if number:
            distances = self._once(number, lambda: positions.buckets(self.start, self.length, number, **sizes))
        else:
            distances = self._once("grid", lambda: positions.rows_on_grid(part["patches"], self.x.device))
        if settings["per"] == "block":
            self.given[f"distances {part['name']}"] = distances
        else:
            self.given[f"bias {part['name']}"] = self.stack.get_submodule("position")(distances)
