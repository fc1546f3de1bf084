"""Self-attention and its heads: what is said about their identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import BISHOP, CORDONNIER, CRAIG, CS224N, SET_TRANSFORMER, VASWANI

ABOUT = {
    "orthogonal-inputs": About(
        "what self-attention makes of orthogonal inputs",
        ("identity", "y_n = x_n", "a_nn"),
        (
            "Scores are x_nᵀx_m: ‖x‖² with itself, 0 with every other input.",
            "Softmax over m: a_nn = e^‖x‖²/(N−1+e^‖x‖²), and each other weight is 1/(N−1+e^‖x‖²).",
            "y_n = a_nn·x_n + (1−a_nn)·mean of the others: equal to x_n only where a_nn is about 1.",
            "That needs e^‖x‖² ≫ N: with N = 8, a_nn is 0.28 at ‖x‖ = 1 and 0.999 at ‖x‖ = 3.",
        ),
        (f"{BISHOP}, chapter 12",),
    ),
    "score-variance": About(
        "why scores are divided by √D: their variance is D",
        ("1/√D", "sqrt", "scale", "scaled dot product", "normal", "q·k", "qk", "kurtosis", "transformer"),
        (
            "aᵀb = Σ_i a_i·b_i. The terms are independent, with mean E[a_i]·E[b_i] = 0.",
            "A term's variance is E[a_i²]·E[b_i²] = 1, so the sum's is D, and that of aᵀb/√D is 1.",
            "A term is not normal: E[(a_i·b_i)⁴] = E[a_i⁴]·E[b_i⁴] = 3·3 = 9, where a normal one of variance 1 has 3.",
        ),
        (f"{VASWANI}, section 3.2.1, footnote 4", CRAIG),
    ),
    "score-law": About(
        "q·k of D independent normals is not itself normal",
        ("kurtosis", "gaussian", "N(0, D)", "distribution", "q·k", "qk", "dot product", "transformer"),
        (
            "Given q, the score Σ_i q_i·k_i is normal with variance ‖q‖².",
            "So E[(q·k)²] = E‖q‖² = D and E[(q·k)⁴] = 3·E‖q‖⁴ = 3·D(D+2).",
            "Kurtosis: 3·D(D+2)/D² = 3 + 6/D. A normal variable has 3: the score has longer tails.",
            "The difference vanishes as D grows (central limit theorem): 9 at D = 1, 3.09 at D = 64.",
        ),
        (CRAIG, f"{VASWANI}, section 3.2.1, footnote 4"),
    ),
    "permutation": About(
        "self-attention does not see the order of its inputs",
        ("equivariant", "position", "invariant", "transformer"),
        (
            "Reordering the inputs, P·X, reorders Q, K and V alike: P·Q, P·K, P·V.",
            "Scores become P·(QKᵀ)·Pᵀ; softmax works row by row, so the weights are P·A·Pᵀ.",
            "Output: P·A·Pᵀ·P·V = P·(A·V), since PᵀP = I.",
            "An encoding that belongs to places, P·X + E, breaks this; one that moves along, P·(X + E), does not.",
        ),
        (f"{SET_TRANSFORMER}, section 3", f"{BISHOP}, chapter 12"),
    ),
    "sum-over-heads": About(
        "concatenated heads are a sum over heads",
        ("multi-head", "multihead", "W_O", "concat", "merged", "transformer"),
        (
            "W_O has a block of rows for each head: Concat[H_1 … H_H]·W_O = Σ_h H_h·W_O,h.",
            "H_h = A_h·X·W_V,h, so each term is A_h·X·(W_V,h·W_O,h) = A_h·X·W^(h).",
            "W^(h) is d_model × d_model, but of rank d_head: as two factors it takes 2·d_model·d_head weights.",
        ),
        (CORDONNIER, f"{BISHOP}, chapter 12"),
    ),
    "dense-layer": About(
        "self-attention as one dense layer on a sequence",
        ("parameters", "fully connected", "N²D²", "O(N²)", "flops", "cost", "quadratic", "sparse", "transformer"),
        (
            "For given weights A the output A·X·W_V is linear in X: on all rows in a line its matrix is A ⊗ W_Vᵀ.",
            "As a dense layer that matrix would have (ND)² free weights.",
            "Attention has W_Q, W_K, W_V, W_O: 4·D² weights, the same for every N. A is computed, not learned.",
            "What grows with N² is work and memory: scores cost 2·N²·D FLOPs for a head as wide as D.",
        ),
        (f"{BISHOP}, chapter 12", f"{VASWANI}, table 1"),
    ),
    "two-keys": About(
        "a query between two keys averages their values",
        ("orthonormal", "third key", "attention exploration", "cs224n", "beta"),
        (
            "q = β(k_a + k_b) scores β(‖k_a‖² + k_aᵀk_b) with k_a and β(‖k_b‖² + k_aᵀk_b) with k_b.",
            "The two are equal if and only if ‖k_a‖ = ‖k_b‖; orthogonality is not needed.",
            "Any other key scores qᵀk. If that is less by βδ, its weight is e^−βδ of theirs: none is left for β ≫ 0.",
            "So both get ½, and the output is (v_a + v_b)/2.",
        ),
        (CS224N,),
    ),
    "averaged-heads": About(
        "several heads keep the mean, with less variance",
        ("multi-head", "heads", "variance", "average", "cs224n", "gamma", "equal queries"),
        (
            "With k_a = γu the score of k_a is βγ, that of k_b is β: for β ≫ 0 the head gives v_a if γ > 1, else v_b.",
            "A γ that is as often above 1 as below gives the mean (v_a + v_b)/2, with a large variance.",
            "The average of H independent outputs has the same mean and 1/H of the variance.",
            "Heads q₁ = βu and q₂ = βk_b give v_a and v_b each for sure, as long as γ > 0.",
        ),
        (CS224N,),
    ),
    "noisy-keys": About(
        "a noisy key γμ_a: one query for both, or for each",
        ("two keys", "heads", "variance", "mean", "cs224n", "gamma", "γ", "sample", "integral", "covariance"),
        (
            "One query β(μ_a + μ_b): scores βγ, β and 0 for the others. Weight on v_a: σ(β(γ−1)), nearly.",
            "γ is symmetric about 1, so the mean is ½; for β = 20 the weight is near 0 or 1: a variance near ¼.",
            "q₁ = βμ_a: scores βγ and 0 for the other five keys, weight 1/(1 + 5·e^−βγ). q₂ = βμ_b: nearly all on v_b.",
            "Averaged: ½·E[1/(1 + 5·e^−βγ)]. Less than ½, as γ ≤ 0 happens in 8 of 100 draws and small γ lose too.",
            "Where γ is well above 0 the average is ½ whatever γ is: that is why its variance is small.",
        ),
        (CS224N,),
    ),
    "equal-queries": About(
        "equal queries over shared keys average nothing",
        ("heads", "multi-head", "shared keys", "variance", "mean", "cs224n", "average", "two keys"),
        (
            "A head's output is a function of its query, its keys and its values.",
            "Equal queries over the same keys and values give equal outputs: their average is that output.",
            "So neither mean nor variance changes, however many heads there are.",
            "Variance falls to 1/H only if the heads' keys are drawn independently of each other.",
        ),
        (CS224N,),
    ),
    "projection-coordinates": About(
        "Aᵀ(v_a + v_b) gives the coordinates of v_a",
        ("project", "orthogonal", "orthonormal", "basis", "subspace", "copy", "cs224n", "M(v_a + v_b)"),
        (
            "v_a = A·c, with a column of A for each direction of v_a and c the coordinates; v_b = B·d.",
            "Aᵀ(v_a + v_b) = AᵀA·c + AᵀB·d. Orthonormal A gives AᵀA = I, and A ⊥ B gives AᵀB = 0: what is left is c.",
            "c has as many numbers as A has columns; v_a has as many as A has rows. v_a = A·c = A·Aᵀ(v_a + v_b).",
            "If A is not orthonormal, AᵀA ≠ I: its pseudo-inverse A⁺ = (AᵀA)⁻¹Aᵀ takes the place of Aᵀ.",
        ),
        (CS224N,),
    ),
}
