"""Taking v_a out of v_a + v_b: Aᵀ gives its coordinates in the basis A, and A·Aᵀ gives v_a itself."""

from __future__ import annotations

import torch

from archcalc.identities.finding import Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian

D, A_DIMS, B_DIMS = 8, 3, 2


def projection_coordinates() -> Findings:
    """A has a column for each direction of v_a, B for v_b; Aᵀ has as many rows as there are coordinates."""
    normal = gaussian(seed=29)
    basis = torch.linalg.qr(normal(D, D)).Q
    a, b = basis[:, :A_DIMS], basis[:, A_DIMS : A_DIMS + B_DIMS]
    coordinates = normal(A_DIMS)
    v_a, v_b = a @ coordinates, b @ normal(B_DIMS)
    projected = a.T @ (v_a + v_b)
    slanted = normal(D, A_DIMS)  # a basis too, but not orthonormal
    skewed = slanted @ coordinates
    return measured_at(
        f"vectors of {D}, v_a in {A_DIMS} and v_b in {B_DIMS} directions",
        wrong("M = Aᵀ: M(v_a+v_b) = v_a", gap(torch.cat([projected, torch.zeros(D - A_DIMS)]), v_a)),
        corrected("Aᵀ(v_a+v_b) = c, the coordinates: v_a = A·c", gap(projected, coordinates)),
        right("A·Aᵀ(v_a+v_b) = v_a", gap(a @ projected, v_a)).only_if("A is orthonormal and orthogonal to B"),
        wrong("A·Aᵀ·v_a = v_a for every basis A", gap(slanted @ slanted.T @ skewed, skewed)),
        corrected("A·A⁺·v_a = v_a for every basis A", gap(slanted @ torch.linalg.pinv(slanted) @ skewed, skewed)),
    )
