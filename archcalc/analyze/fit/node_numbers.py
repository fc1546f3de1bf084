"""Numbers of GPUs that people can rent or buy."""

from __future__ import annotations

IN_A_MACHINE = (1, 2, 4, 8)  # boards of NVIDIA (HGX) and AMD carry 4 or 8, and clouds rent 1, 2, 4 or 8 of a machine
MACHINE = IN_A_MACHINE[-1]
MOST = 4096
NUMBERS = (*IN_A_MACHINE, *range(2 * MACHINE, MOST + 1, MACHINE))  # beyond one machine, whole machines
