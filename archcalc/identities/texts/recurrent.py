"""LSTM and GRU: what is said about their identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import BRIDLE, CHO, CHUNG, DEEP_LEARNING, GERS, KERAS, LSTM

ABOUT = {
    "lstm-gradients": About(
        "the LSTM's backward pass by hand, formula by formula",
        ("backward", "backpropagation", "bptt", "gradient", "derivative", "gate", "rnn", "recurrent", "autograd"),
        (
            "Forward: c = Γu∗c̃ + Γf∗c_prev, a = Γo∗tanh(c), each gate Γ = σ(γ), γ = W·[a;x] + b.",
            "a reaches the loss through z = W_y·a + b_y and through the next step: ∂L/∂a = W_yᵀ·(ŷ−y) + da_next.",
            "c reaches the loss through a and through the next c: ∂L/∂c = dc_next + da∗Γo∗(1−tanh²c).",
            "Each factor of c gets dc times the other factor: Γu gets dc∗c̃, c̃ gets dc∗Γu, Γf gets dc∗c_prev.",
            "σ' = Γ(1−Γ) and tanh' = 1−tanh² lead from a gate to what stands before it.",
            "γ = W·[a;x] + b: dW = dγ·[a;x]ᵀ summed over the steps, db = Σ_t dγ, d[a;x] = Wᵀ·dγ summed over the gates.",
        ),
        (LSTM, GERS, f"{DEEP_LEARNING}, section 10.10.1"),
    ),
    "lstm-forget-gate": About(
        "its derivative carries c_prev, not c̃",
        ("backward", "gradient", "forget", "gate", "Γf", "rnn", "recurrent"),
        (
            "Γf stands in c = Γu∗c̃ + Γf∗c_prev only, multiplied by c_prev.",
            "So ∂c/∂Γf = c_prev, and ∂L/∂Γf = dc∗c_prev.",
            "Γf = σ(γf) has the derivative Γf(1−Γf): ∂L/∂γf = dc∗c_prev∗Γf(1−Γf).",
            "c̃ is what Γu is multiplied by: with it the formula is the update gate's.",
        ),
        (GERS, f"{DEEP_LEARNING}, section 10.10.1"),
    ),
    "lstm-cell-state": About(
        "its derivative needs the output gate",
        ("backward", "gradient", "cell", "output", "gate", "rnn", "recurrent"),
        (
            "a = o∗tanh(c), and E is the derivative that arrives at a.",
            "Differentiate by c: ∂a/∂c = o∗(1−tanh²c).",
            "So ∂E/∂c = E∗o∗(1−tanh²c). Without o every closed gate would pass its error on in full.",
        ),
        (LSTM, GERS),
    ),
    "cross-entropy": About(
        "softmax and cross-entropy leave ŷ − y",
        ("loss", "softmax", "gradient", "logits", "backward"),
        (
            "L = −Σ_i y_i·ln ŷ_i with ŷ = softmax(z), so ln ŷ_i = z_i − ln Σ_j e^{z_j}.",
            "∂ ln ŷ_i/∂z_k = [i = k] − ŷ_k.",
            "∂L/∂z_k = −y_k + ŷ_k·Σ_i y_i = ŷ_k − y_k, as y sums to 1.",
        ),
        (BRIDLE, f"{DEEP_LEARNING}, section 6.2.2.3"),
    ),
    "gru-size": About(
        "a GRU has 3/4 of an LSTM's parameters",
        ("keras", "pytorch", "bias", "biases", "reset_after", "rnn", "recurrent"),
        (
            "A gate has a matrix of h × (in + h) and its biases; an LSTM has four such gates, a GRU three.",
            "With one bias a gate: 3(in·h + h² + h) / 4(in·h + h² + h) = 3/4; with two the same.",
            "Keras' GRU keeps two biases (reset_after=True), its LSTM one: ¾·(in+h+2)/(in+h+1).",
            "Embedding and output layer have no gates: they stay as they are.",
        ),
        (CHO, KERAS),
    ),
    "gru-gates": About(
        "which way the update gate turns, and what is reset",
        ("update gate", "reset gate", "convention", "ng", "cho", "pytorch", "Γu", "z", "rnn", "recurrent"),
        (
            "Cho et al. and PyTorch: h = z∗h_prev + (1−z)∗h̃. An open gate, z = 1, keeps the old state.",
            "Chung et al. and Ng's course: c = Γu∗c̃ + (1−Γu)∗c_prev. An open gate, Γu = 1, writes the new one.",
            "With Γu = 1−z they are one formula. As σ(−γ) = 1−σ(γ), the weights of one gate are minus the other's.",
            "Cho et al. reset the state before the product, U·(r∗h_prev); PyTorch resets its result, r∗(U·h_prev).",
            "These two differ: r∗(U·h) takes r by rows of U, U·(r∗h) by columns.",
        ),
        (f"{CHO}, section 2.3", f"{CHUNG}, section 3.2", "PyTorch 2 documentation, torch.nn.GRUCell"),
    ),
    "gru-cost": About(
        "a GRU's matrix products cost 3/4 of an LSTM's",
        ("flops", "compute", "training", "slow", "rnn", "recurrent", "lstm"),
        (
            "Each step multiplies every gate's matrix by [a;x]: 2·h·(in + h) FLOPs for each gate.",
            "Three gates instead of four: 3/4, at every size and number of layers.",
        ),
        (CHUNG,),
    ),
}
