"""What a parameter does in its layer, declared where the layer makes it.

Quantisation rules, file formats and optimizers speak of matrices by what they do: attention's values, an expert's
down-projection, the router. They read the role, whatever the modules of a model are called.
"""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """`OTHER` is what nobody declared: a number or a vector that no rule speaks of."""

    OTHER = "other"
    BIAS = "bias"
    NORM = "norm"

    TOKEN_TABLE = "table.token"
    POSITION_TABLE = "table.position"
    TYPE_TABLE = "table.type"
    VECTORS = "vectors"  # learned ones that stand in a sequence: a class token, registers, a probe

    ATTENTION_Q = "attention.q"
    ATTENTION_K = "attention.k"
    ATTENTION_V = "attention.v"
    ATTENTION_QKV = "attention.qkv"  # all three in one matrix
    ATTENTION_OUT = "attention.out"
    ATTENTION_Q_DOWN = "attention.q_down"  # latent attention: to a narrow vector, and from there to all heads
    ATTENTION_Q_UP = "attention.q_up"
    ATTENTION_KV_DOWN = "attention.kv_down"
    ATTENTION_KV_UP = "attention.kv_up"
    ATTENTION_GATE = "attention.gate"
    CROSS_Q = "cross.q"  # attention that looks at what an encoder gives
    CROSS_K = "cross.k"
    CROSS_V = "cross.v"
    CROSS_OUT = "cross.out"
    INDEXER_Q = "indexer.q"
    INDEXER_K = "indexer.k"
    INDEXER_WEIGHTS = "indexer.weights"

    FFN_GATE = "ffn.gate"
    FFN_UP = "ffn.up"
    FFN_GATE_UP = "ffn.gate_up"  # both in one matrix
    FFN_DOWN = "ffn.down"
    EXPERT_GATE = "expert.gate"
    EXPERT_UP = "expert.up"
    EXPERT_GATE_UP = "expert.gate_up"  # both in one matrix
    EXPERT_DOWN = "expert.down"
    EXPERT_Q = "expert.q"  # experts for queries
    EXPERT_OUT = "expert.out"
    SHARED_GATE = "shared.gate"  # of an expert that every token visits
    SHARED_UP = "shared.up"
    SHARED_DOWN = "shared.down"
    SHARED_SCALE = "shared.scale"  # how much that expert counts, for each token
    ROUTER = "router"
    LATENT_IN = "latent.in"  # to and from the width that experts work at
    LATENT_OUT = "latent.out"

    MAMBA_IN = "mamba.in"
    MAMBA_SELECT = "mamba.select"
    MAMBA_DT = "mamba.dt"
    MAMBA_OUT = "mamba.out"
    DELTA_IN = "delta.in"
    DELTA_RATES = "delta.rates"
    DELTA_GATES = "delta.gates"  # of Kimi delta attention
    DELTA_OUT = "delta.out"
    CONVOLUTION = "convolution"
    STATE = "state"  # how fast a recurrent state decays or takes in
    CELL = "cell"  # of a recurrent cell that is written gate by gate
    SCORES = "scores"  # turns a query and a key into a score
    HEADWISE = "headwise"  # a square matrix for each head
    RECURRENT = "recurrent"  # of a recurrent cell, which libraries keep stacked

    HEAD = "head"  # scores over the vocabulary
    CLASSIFIER = "classifier"  # scores over classes
    FURTHER_TOKENS = "further tokens"  # joins a hidden state with the next token, to predict the one after it
    LINEAR = "linear"  # a linear layer that no rule speaks of
    ADAPTER = "adapter"
    SPARE = "spare"  # kept, read by nothing
    STORED = "stored"  # a matrix of a file, of which no more is known

    is_table: bool  # rows that are looked up, which "non-embedding" counts leave out
    is_linear: bool  # the matrix of a linear layer: no table, no convolution, no learned state
    is_expert: bool  # it belongs to experts, whose matrices are stored as one stacked tensor
    gives_scores: bool  # the last matrix of a model, which gives the answer
    plain: Role  # what the same matrix is in a block without experts and without an encoder to look at


TABLES = frozenset({Role.TOKEN_TABLE, Role.POSITION_TABLE, Role.TYPE_TABLE})
EXPERTS = frozenset(
    {Role.EXPERT_GATE, Role.EXPERT_UP, Role.EXPERT_GATE_UP, Role.EXPERT_DOWN, Role.EXPERT_Q, Role.EXPERT_OUT}
)
_PLAIN = {
    Role.CROSS_Q: Role.ATTENTION_Q,
    Role.CROSS_K: Role.ATTENTION_K,
    Role.CROSS_V: Role.ATTENTION_V,
    Role.CROSS_OUT: Role.ATTENTION_OUT,
    Role.EXPERT_Q: Role.ATTENTION_Q,
    Role.EXPERT_GATE: Role.FFN_GATE,
    Role.EXPERT_UP: Role.FFN_UP,
    Role.EXPERT_DOWN: Role.FFN_DOWN,
    Role.SHARED_GATE: Role.FFN_GATE,
    Role.SHARED_UP: Role.FFN_UP,
    Role.SHARED_DOWN: Role.FFN_DOWN,
}
CROSS = frozenset({Role.CROSS_Q, Role.CROSS_K, Role.CROSS_V, Role.CROSS_OUT})
ATTENTION = CROSS | {
    *(Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V, Role.ATTENTION_QKV, Role.ATTENTION_OUT),
    *(Role.ATTENTION_Q_DOWN, Role.ATTENTION_Q_UP, Role.ATTENTION_KV_DOWN, Role.ATTENTION_KV_UP, Role.ATTENTION_GATE),
    *(Role.INDEXER_Q, Role.INDEXER_K, Role.INDEXER_WEIGHTS),
}
DENSE = frozenset({Role.FFN_GATE, Role.FFN_UP, Role.FFN_GATE_UP, Role.FFN_DOWN})
SHARED = frozenset({Role.SHARED_GATE, Role.SHARED_UP, Role.SHARED_DOWN})
FEED_FORWARD = DENSE | SHARED | EXPERTS | {Role.ROUTER}
_VECTORS = frozenset({Role.OTHER, Role.BIAS, Role.NORM, Role.VECTORS, Role.SCORES})
_OF_STATES = frozenset({Role.CONVOLUTION, Role.STATE, Role.HEADWISE, Role.RECURRENT})
NOT_LINEAR = TABLES | _VECTORS | _OF_STATES | {Role.ADAPTER, Role.SPARE}
for role in Role:
    role.is_table = role in TABLES
    role.is_linear = role not in NOT_LINEAR
    role.is_expert = role in EXPERTS
    role.gives_scores = role in (Role.HEAD, Role.CLASSIFIER)
    role.plain = _PLAIN.get(role, role)
