"""The patch embedding of vision transformers: patches are flattened and projected, after learned tokens.

The projection is PyTorch's convolution whose stride is its kernel, so its weight keeps the convolution's four axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.count import product
from archcalc.core.ir import Dim, Module, Param, Role, Tensor, axes
from archcalc.core.small import TWICE
from archcalc.layers.embedding import PLACED

Sides = tuple[int, int]  # height, width
SMALL_PATCH = 4
TWO = 2  # rows and columns


@dataclass(frozen=True)
class Patches:
    """An image and how it is cut; every side is a whole number of patches."""

    image: Sides
    patch: Sides
    channels: int
    tokens: int  # in front, each with a position: class, distillation
    registers: int  # behind the class token, without a position
    mask: bool
    bias: bool
    frames: int = 1  # that a patch holds
    pretrained: Sides | None = None  # the image that the position table was trained on, where it was another

    def made_small(self, original: Patches) -> Patches:
        """No more than two small patches along each side."""
        sides = [SMALL_PATCH * min(TWICE, number) for number in original.grid]
        return replace(self, patch=(SMALL_PATCH, SMALL_PATCH), image=(sides[0], sides[1]))

    @property
    def grid(self) -> Sides:
        return grid(self.image, self.patch)

    @property
    def number(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def positions(self) -> int:
        return self.tokens + self.number

    @property
    def differences(self) -> int:
        """Of row and column, as Swin's windows tell them apart; with tokens in front BEiT's three more: from a token
        to a patch, from a patch to a token, between tokens."""
        rows, columns = self.grid
        return (2 * rows - 1) * (2 * columns - 1) + (3 if self.tokens or self.registers else 0)

    @property
    def seq(self) -> int:
        return self.positions + self.registers

    @property
    def described(self) -> str:
        """`14 × 14 patches and 1 token`."""
        in_front = ((self.tokens, "token"), (self.registers, "register"))
        several = [f"{number} {noun}{'s' * (number > 1)}" for number, noun in in_front if number]
        return " and ".join([f"{times(*self.grid)} patches", *several])


def grid(image: Sides, patch: Sides) -> Sides:
    """Rows and columns of patches."""
    return image[0] // patch[0], image[1] // patch[1]


def both_sides(sides: int | Sides) -> Sides:
    """Height and width; one number is both."""
    return sides if isinstance(sides, tuple) else (sides, sides)


def times(*sizes: int) -> str:
    """`16 × 16`."""
    return " × ".join(map(str, sizes))


def cut(m: Module, batch: Dim, patches: Patches, image: Tensor | None = None) -> Tensor:
    """The image as it enters, unless it is there already; then one row of pixels for each patch. Patches that hold
    several frames are of a clip."""
    channels, height, width = Dim.of("channels", patches.channels), *_sides("", patches.image)
    frames = [Dim.of("frames", patches.frames)] if patches.frames > 1 else []
    to = axes(batch, channels, *frames, height, width)
    image = image.seen_as(*to) if image else m.record("input", to=to, name="image")
    pixels = (channels, *frames, *_sides("patch_", patches.patch))
    sizes = [dim.size for dim in (*pixels[1:], channels)]
    note = f"{times(*patches.grid)}, each {times(*map(int, sizes))} flattened"
    return m.record("view", image, to=axes(batch, Dim.of("patches", patches.number), pixels), name="patches", note=note)


def _sides(prefix: str, sides: Sides) -> tuple[Dim, Dim]:
    return Dim.of(f"{prefix}height", sides[0]), Dim.of(f"{prefix}width", sides[1])


def project(m: Module, rows: Tensor, d_model: Dim, *, bias: bool) -> Tensor:
    batch, patches, pixels = rows.axes
    channels, *sides = pixels
    elements = product([dim.size for dim in (*sides, channels, d_model)])
    weight = m.param("weight", d_model, *pixels, elements=elements, role=Role.CONVOLUTION)
    projected = m.record("contract", rows, weight, to=(batch, patches, (d_model,)), over=pixels)
    return m.record("add", projected, m.param("bias", d_model, role=Role.BIAS)) if bias else projected


def learned_vectors(m: Module, number: int, d_model: Dim) -> Param:
    """The same for every image."""
    return m.param("weight", Dim.of("tokens", number), d_model, role=Role.VECTORS)


def put_in_front(m: Module, x: Tensor, number: int, to: Dim) -> Tensor:
    """Learned tokens (class token, registers) concatenated with the patches."""
    batch, _, d_model = x.dims
    return m.record("concat", learned_vectors(m, number, d_model), x, to=axes(batch, to, d_model))


def add_table(m: Module, x: Tensor) -> Tensor:
    """A learned position for each row; all rows are used, so there is no lookup."""
    _, placed, d_model = x.dims
    m.words.about = PLACED
    return m.record("add", x, m.param("weight", placed, d_model, role=Role.POSITION_TABLE))


def add_sides(m: Module, x: Tensor, rows: int) -> Tensor:
    """A vector for the row and one for the column of each patch, from a table each."""
    _, placed, d_model = x.dims
    m.words.about = PLACED
    along = Dim.of("positions", rows)
    tables = m.param("weight", Dim.of("sides", TWO), along, d_model, role=Role.POSITION_TABLE)
    to = axes(placed, d_model)
    found = [m.record("lookup", Tensor(axes(placed), "index"), tables, to=to, select=(along,)) for _ in range(TWO)]
    return m.record("add", x, m.record("add", *found))


def add_interpolated(m: Module, x: Tensor, table: Sides, patches: Patches) -> Tensor:
    """A table of rows and columns, interpolated to those of the patches; tokens in front have vectors of their own."""
    _, placed, d_model = x.dims
    m.words.about = PLACED
    rows = Dim.of("positions", patches.tokens + table[0] * table[1])
    learned = m.param("weight", rows, d_model, role=Role.POSITION_TABLE)
    note = f"{times(*table)} interpolated to {times(*patches.grid)}"
    return m.record("add", x, m.record("enlarge", learned, to=axes(placed, d_model), note=note))
