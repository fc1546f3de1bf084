"""Tables: token, position and type embeddings."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Param, Role, Tensor, axes
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear

PLACED = "after position encoding"


def token_table(m: Module, vocab: Dim, d_model: Dim) -> Param:
    return m.param("weight", vocab, d_model, role=Role.TOKEN_TABLE)


def look_up(m: Module, ids: Tensor, table: Param, *, bias: bool = False) -> Tensor:
    """One row for each id; with a bias it is the textbook's one-hot · W + b."""
    rows, width = table.dims
    found = m.record("lookup", ids, table, to=axes(*ids.dims, width), select=(rows,))
    found = m.record("add", found, m.param("bias", width, role=Role.TOKEN_TABLE)) if bias else found
    return m.style.embedded(m, found) if table.weight_role is Role.TOKEN_TABLE else found


def join_tables(m: Module, x: Tensor, tables: tuple[tuple[int, int], ...]) -> Tensor:
    """Rows of other tables concatenated with the token embedding, and projected to its width."""
    batch, seq, d_model = x.dims
    found, width = [x], d_model.size
    for number, (rows, wide) in enumerate(tables, start=1):
        name = f"joined_{number}"
        dims = Dim.of(f"{name}_rows", rows), Dim.of(f"{name}_width", wide)
        table = m[name].param("weight", *dims, role=Role.TYPE_TABLE)
        found.append(look_up(m[name], Tensor(axes(batch, seq), "index"), table))
        width += table.dims[1].size
    return linear(m["joined"], m.record("concat", *found, to=axes(batch, seq, Dim("joined", width))), d_model)


def add_learned_positions(m: Module, x: Tensor, length: int, offset: int) -> Tensor:
    """The first `offset` rows are stored but never used."""
    m.words.about = PLACED
    _, seq, d_model = x.dims
    rows = Dim.of("positions", length + offset)
    table = m.param("weight", rows, d_model, role=Role.POSITION_TABLE)
    places = Tensor(axes(seq), "index")
    return m.record("add", x, m.record("lookup", places, table, to=axes(seq, d_model), select=(rows,)))


def add_sinusoids(m: Module, x: Tensor, length: int | None, *, stored: bool) -> Tensor:
    """Sinusoidal positions: a table of `length` rows if given, a frozen parameter if `stored`."""
    m.words.about = PLACED
    _, seq, d_model = x.dims
    if length is None:
        return m.record("add", x, note="sinusoids")
    rows = Dim.of("positions", length)
    table = (
        m.param("weight", rows, d_model, role=Role.POSITION_TABLE, trainable=False)
        if stored
        else m.buffer("weight", rows, d_model)
    )
    return m.record("add", x, m.record("lookup", table, to=axes(seq, d_model), select=(rows,)))


def add_types(m: Module, x: Tensor, types: int) -> Tensor:
    batch, seq, d_model = x.dims
    table = m.param("weight", Dim.of("types", types), d_model, role=Role.TYPE_TABLE)
    ids = Tensor(axes(batch, seq), "index")
    return m.record("add", x, m.record("lookup", ids, table, to=x.axes, select=(table.dims[0],)))


def relative_bias(m: Module, heads: int, buckets: int, distances: Tensor) -> Tensor:
    """A learned bias for each head and distance bucket, added to the scores."""
    head, rows = heads_of(heads), Dim.of("buckets", buckets)
    table = m.params.get("weight") or m.param("weight", rows, head, role=Role.POSITION_TABLE)
    found = m.record("lookup", distances, table, to=axes(*distances.dims, head), select=(rows,))
    return m.record("view", found, to=axes(head, *distances.dims))
