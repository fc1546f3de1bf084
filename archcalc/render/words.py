"""Matrices as words, the same in every format that people read."""

from __future__ import annotations

from archcalc.report.table import Matrix


def entries(matrix: Matrix) -> list[list[str]]:
    """Its numbers with four decimals, and 0 where nothing stands."""
    return [[f"{entry:.4f}".replace("-", "−") if entry else "0" for entry in row] for row in matrix.rows]


def aligned(matrix: Matrix) -> list[str]:
    """A row to a line, between bars."""
    texts = entries(matrix)
    wide = max(len(text) for row in texts for text in row)
    return ["  ".join(["│", *(text.rjust(wide) for text in row), "│"]) for row in texts]
