"""Kernel attention: what is said about its identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import KATHAROPOULOS, RABE, VASWANI

ABOUT = {
    "feature-map": About(
        "the feature map of (qᵀk+1)² needs √2·x_i",
        ("phi", "φ", "polynomial", "linear attention", "features"),
        (
            "(qᵀk + 1)² = 1 + 2·Σ_i q_i·k_i + (Σ_i q_i·k_i)².",
            "The middle term is Σ_i (√2·q_i)(√2·k_i): each side brings √2·x_i, not x_i.",
            "The square is Σ_i q_i²k_i² + Σ_{i<j} (√2·q_i·q_j)(√2·k_i·k_j).",
            "φ(x) = (1, √2·x_i, x_i², √2·x_i·x_j for i < j): 1 + D + D + D(D−1)/2 = (D+1)(D+2)/2 features.",
        ),
        (f"{KATHAROPOULOS}, section 3.2",),
    ),
    "kernel-attention": About(
        "kernel attention without the N × N matrix",
        ("linear attention", "running sums", "causal", "phi", "φ"),
        (
            "y_n = Σ_m φ(q_n)ᵀφ(k_m)·v_m / Σ_m φ(q_n)ᵀφ(k_m).",
            "φ(q_n) does not depend on m and comes before the sums: φ(q_n)ᵀ(Σ_m φ(k_m)·v_mᵀ) / φ(q_n)ᵀ(Σ_m φ(k_m)).",
            "Both sums are computed once for all n; with a causal mask they are running sums over m ≤ n.",
        ),
        (f"{KATHAROPOULOS}, sections 3.2 and 3.3",),
    ),
    "softmax-compute": About(
        "softmax attention computes O(N²·max(D, M))",
        ("flops", "cost", "quadratic", "complexity", "O(N²)", "O(N·max(D,M))"),
        (
            "Scores QKᵀ: N² products of length D, 2N²D FLOPs. Outputs A·V: N·M sums of length N, 2N²M.",
            "Together 2N²(D+M): twice the N costs four times as much.",
        ),
        (f"{VASWANI}, table 1", f"{KATHAROPOULOS}, section 3.2"),
    ),
    "softmax-memory": About(
        "softmax attention holds O(N² + N(D+M)) numbers",
        ("memory", "quadratic", "complexity", "O(N²)", "O(N²M)"),
        (
            "Scores and weights are N × N each: 2N² numbers, and no M among them.",
            "Q and K are N × D, V and the output N × M: 2N(D+M).",
            "An N²·M tensor is never formed: A·V sums over keys as it goes.",
        ),
        (f"{KATHAROPOULOS}, section 3.2", RABE),
    ),
    "kernel-compute": About(
        "kernel attention of degree 2 computes O(N·C·M)",
        ("linear attention", "flops", "cost", "complexity", "O(N²M)", "polynomial", "degree"),
        (
            "φ(K)ᵀV sums N outer products of C × M numbers: 2NCM FLOPs, once for all queries.",
            "φ(Q)·(φ(K)ᵀV): each of N queries meets the C × M sum, another 2NCM. No query meets a key.",
            "4NCM is linear in N: O(N²M) would be the form with N × N similarities, (φ(Q)φ(K)ᵀ)V.",
            "Degree 2 gives C = (D+1)(D+2)/2 features, which is the price: N·C·M against softmax's N²·max(D, M).",
        ),
        (f"{KATHAROPOULOS}, section 3.2",),
    ),
    "kernel-memory": About(
        "kernel attention of degree 2 holds O(N·C + C·M)",
        ("linear attention", "memory", "complexity", "O(NM·max(D,M))", "polynomial", "degree"),
        (
            "φ(Q) and φ(K) have N rows of C features: 2NC numbers.",
            "The sum over the keys φ(K)ᵀV has C rows of M numbers: CM.",
            "V and the output, N × M each, are there in every kind of attention.",
            "With O(NM·max(D, M)) twice the M would take four times the memory, and twice the D none while D ≤ M.",
            "A causal mask keeps one running sum of C × M at a time; all N of them would be N·C·M numbers.",
        ),
        (f"{KATHAROPOULOS}, sections 3.2 and 3.3.1",),
    ),
    "kernel-crossover": About(
        "from which length on kernel attention is cheaper",
        ("linear attention", "flops", "cost", "causal", "N > D²"),
        (
            "Softmax: 2N²(D+M) FLOPs. Kernel: φ(K)ᵀV and φ(Q)·(…) cost 2NCM each, 4NCM.",
            "4NCM < 2N²(D+M) if and only if N > 2CM/(D+M); at M = D that is N > C.",
            "C = (D+1)(D+2)/2 is about D²/2: 2,145 for D = 64. N > D² gives the order of magnitude only.",
            "If a causal mask lets softmax skip half its work, the length doubles to 2C, which is about D².",
        ),
        (f"{KATHAROPOULOS}, section 3.2.1, which has N > D² in O-notation",),
    ),
}
