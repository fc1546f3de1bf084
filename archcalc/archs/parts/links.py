"""How a part is joined to the others: fields that a part of any family has."""

from __future__ import annotations

from archcalc.archs.parts.names import Names
from archcalc.spec.node import Node, field


class Links(Node):
    """How a part is joined to the others; all other fields are those of its family."""

    reads: Names = field(
        (),
        "What the part reads: inputs or other parts, by name. Several are read one behind the other.",
        example=["projector", "text"],
        unset="the part before it; the first part reads the only input",
    )
    together: bool = field(
        False,
        "The vectors that a sample has several of, such as one for each frame, come in as one sequence. They do without"
        " it where a recurrent part, a Transformer or something that a sample has one of stands beside them.",
        example=True,
    )
    memory: str | None = field(
        None, "What its attention looks at: the output of another part.", example="encoder", unset="nothing"
    )
    start: str | None = field(
        None,
        "The state that a recurrent part starts from: a recurrent part, or a vector as wide as its state.",
        example="encoder",
        unset="zeros",
    )
    context: str | None = field(
        None, "A vector that a recurrent part reads at every step beside its input.", example="encoder", unset="none"
    )
    like: str | None = field(
        None,
        "The part whose weights this one uses again: they are counted once, and computed again.",
        example="twin",
        unset="weights of its own",
    )
