"""Assumptions behind a number, as data for programs and as a sentence for people.

    Assumption(Topic.BATCH, "batch 1: the spec names none", value=1, option="--batch")

An assumption is created where the value is decided. Code selects assumptions by topic, never by their text.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple


class Topic(StrEnum):
    """What an assumption is about."""

    EXACTNESS = "exactness"
    SCOPE = "scope"  # how much of the model is counted
    SOURCE = "source"  # what the spec or the file that was read says of itself
    ARCHITECTURE = "architecture"  # conventions of the model's family
    DEFAULT = "default"  # a choice that the spec leaves open; the option is the field of the spec
    BATCH = "batch"
    SEQ = "seq"
    SRC_SEQ = "src_seq"
    TGT_SEQ = "tgt_seq"
    CONTEXT = "context"
    IMAGES = "images"  # how many there are, and how many positions each takes
    AUDIO = "audio"  # how long it is, and how many positions it takes
    PRECISION = "precision"
    WEIGHTS = "weights"  # the format in which they are stored
    ATTENTION = "attention"
    KERNEL = "kernel"  # computed as one kernel, which keeps less than separate operations would
    OPTIMIZER = "optimizer"
    METHOD = "method"  # what DPO and GRPO compute besides
    BESIDE = "beside"  # what stands beside the model on its GPUs
    CODE = "code"  # whose implementation of the layers
    ALLOCATOR = "allocator"
    ENGINE = "engine"  # what an inference engine chooses
    KV_CACHE = "kv_cache"
    STATE = "state"  # recurrent state, the cache of models without keys and values
    OVERHEAD = "overhead"
    PARALLELISM = "parallelism"
    OFFLOAD = "offload"  # what is kept in host RAM
    COST = "cost"  # what is counted as work
    TABLE = "table"  # how to read rows and columns
    DEVICE = "device"  # which one was meant
    CAPACITY = "capacity"  # what of its memory a model can use
    REFERENCE = "reference"  # how PyTorch's side of a comparison is computed
    ESTIMATE = "estimate"


class Assumption(NamedTuple):
    """`value` is what was assumed, where that is a word or a number; `option` is the option that changes it."""

    topic: Topic
    text: str
    value: str | int | None = None
    option: str = ""

    def __str__(self) -> str:
        return f"{self.text}; {self.option} changes it" if self.option else self.text

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {"topic": str(self.topic), "value": self.value, "option": self.option, "text": self.text}


def all_on(topic: Topic, texts: Iterable[str]) -> tuple[Assumption, ...]:
    """A sentence each, on one topic."""
    return tuple(Assumption(topic, text) for text in texts)


def without(assumptions: Iterable[Assumption], *topics: Topic) -> tuple[Assumption, ...]:
    """All but those on these topics."""
    return tuple(each for each in assumptions if each.topic not in topics)


DECISIVE = (Topic.SCOPE, Topic.EXACTNESS, Topic.ESTIMATE, Topic.DEVICE)  # what an answer is worth: never left out
WEIGHTY = (  # what moves an answer most, in this order, before what the first line of an answer says already
    *(
        Topic.IMAGES,
        Topic.AUDIO,
        Topic.DEFAULT,
        Topic.COST,
        Topic.METHOD,
        Topic.PRECISION,
        Topic.WEIGHTS,
        Topic.OFFLOAD,
        Topic.OVERHEAD,
    ),
    *(Topic.CAPACITY, Topic.PARALLELISM, Topic.REFERENCE, Topic.ARCHITECTURE, Topic.SOURCE),
)


class Ranked(NamedTuple):
    """Notes for a glance, and those that are printed on demand."""

    first: list[Assumption]
    others: list[Assumption]


def ranked(notes: Iterable[Assumption], few: int) -> Ranked:
    """What decides and then what weighs most, a few in all; one more is not worth a line that says so."""
    order = {topic: place for place, topic in enumerate((*DECISIVE, *WEIGHTY))}
    every = sorted(notes, key=lambda each: order.get(each.topic, len(order)))
    few = max(few, sum(each.topic in DECISIVE for each in every))
    if len(every) <= few + 1:
        few = len(every)
    return Ranked(every[:few], every[few:])


def summed_up(assumptions: Iterable[Assumption]) -> list[Assumption]:
    """For people: the defaults that were taken stand in one sentence, behind all others."""
    every = list(assumptions)
    taken = dict.fromkeys(each for each in every if each.topic == Topic.DEFAULT)
    if not taken:
        return every
    listed = ", ".join(f"{each.text} ({each.option})" for each in taken)
    sentence = Assumption(Topic.DEFAULT, f"not in the spec, so taken by default: {listed}")
    return [*without(every, Topic.DEFAULT), sentence]
