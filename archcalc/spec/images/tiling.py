"""Rules by which an image is cut into tiles, beside a small picture of the whole. Sources: the image processors of
transformers 5.22.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from archcalc.spec.images.seen import Seen, squares

Grid = tuple[int, int]  # rows and columns of tiles
SLACK = 1.1  # how much more than the most a picture may have before its vectors are pooled
LONGEST = 4096  # pixels along a side (MAX_IMAGE_SIZE of Idefics 3)


def listed(said: Any, height: int, width: int) -> Seen:
    """The one of the sizes that keeps most of the image and wastes least (select_best_resolution of LLaVA-NeXT).
    Vectors of the padding are left out, and each row ends with a learned one."""
    rows, columns = (side // said.size for side in max(said.sizes, key=lambda size: _fit(size, height, width)))
    side = math.isqrt(said.vectors)
    tall, wide = _unpadded(height, width, side * rows, side * columns)
    if said.most:  # pooled where they are many (LLaVA-OneVision)
        ratio = math.sqrt(tall * wide / (said.most * side**2))
        if ratio > SLACK:
            tall, wide = int(tall // ratio), int(wide // ratio)
    return Seen(squares(said, rows * columns + 1), tall * wide + said.vectors, tokens=tall)


def _fit(size: Grid, height: int, width: int) -> tuple[int, int]:
    """Pixels of the image that are kept, and then those that are not wasted."""
    scale = min(size[1] / width, size[0] / height)
    kept = min(int(width * scale) * int(height * scale), height * width)
    return kept, kept - size[0] * size[1]


def _unpadded(height: int, width: int, rows: int, columns: int) -> Grid:
    """Rows and columns of vectors that show the image, and not the bars beside it."""
    if width / height > columns / rows:
        return rows - (rows - int(round(height * (columns / width), 7))) // 2 * 2, columns
    return rows, columns - (columns - int(round(width * (rows / height), 7))) // 2 * 2


def ratio(said: Any, height: int, width: int) -> Seen:
    """Tiles whose aspect ratio is nearest; of equally near ones the more, while they are no more than twice the image
    (get_optimal_tiled_canvas of GOT-OCR 2, which InternVL uses)."""
    best, nearest = (1, 1), math.inf
    for columns, rows in _grids(said.least or 1, said.most):
        difference = abs(width / height - columns / rows)
        is_large = 2 * height * width > said.size**2 * columns * rows
        if difference < nearest or (difference == nearest and is_large):
            best, nearest = (columns, rows), difference
    number = best[0] * best[1]
    tiles = number + (number > 1)
    return Seen(squares(said, tiles), said.vectors * tiles)


def _grids(least: int, most: int) -> list[Grid]:
    """Smaller numbers of tiles first, and of one number the narrower ones."""
    every = [(columns, rows) for columns in range(1, most + 1) for rows in range(1, most // columns + 1)]
    return sorted((grid for grid in every if grid[0] * grid[1] >= least), key=math.prod)


def canvas(said: Any, height: int, width: int) -> Seen:
    """The canvas on which the image is enlarged least, or else shrunk least; of those the smallest (get_best_fit of
    Llama 4). Tokens stand between tiles of a row and behind each row, and one before the whole."""
    scales = {
        (rows, columns): min(columns * said.size / width, rows * said.size / height)
        for columns, rows in _grids(1, said.most)
    }
    larger = [scale for scale in scales.values() if scale >= 1]
    chosen = min(larger) if larger else max(scales.values())
    rows, columns = min((grid for grid, scale in scales.items() if scale == chosen), key=math.prod)
    tiles = rows * columns + (rows * columns > 1)
    separators = rows * columns if rows * columns > 1 else 0
    return Seen(squares(said, tiles), said.vectors * tiles, tokens=separators + 1)


def split(said: Any, height: int, width: int) -> Seen:
    """Scaled so that its longer side has that length, then as many tiles as it needs (Idefics 3, SmolVLM). Around every
    tile stand two tokens, behind each row one, around the whole three."""
    height, width = _to_length(height, width, said.longest)
    rows, columns = (math.ceil(side / said.size) for side in (height, width))
    if rows * columns == 1:
        return Seen(squares(said, 1), said.vectors, tokens=3)
    tiles = rows * columns + 1
    return Seen(squares(said, tiles), said.vectors * tiles, tokens=rows * (2 * columns + 1) + 3)


def _to_length(height: int, width: int, longest: int) -> Grid:
    """The other side is even; neither is longer than the processor takes."""
    is_wide, aspect = width >= height, width / height
    other = int(longest / aspect) if is_wide else int(longest * aspect)
    other += other % 2
    if longest > LONGEST:
        other = int(LONGEST * other / longest)
    sides = (min(longest, LONGEST), max(other, 1))
    return (sides[1], sides[0]) if is_wide else sides


BY_TILES: dict[str, Callable[[Any, int, int], Seen]] = {
    "listed": listed,
    "ratio": ratio,
    "canvas": canvas,
    "split": split,
}
