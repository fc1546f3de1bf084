"""What people do with a model, and the smallest usual card for it: inference by format, ways of training.

    inference(network, options)     in the format of its files, then in fewer bits where a smaller card is enough then
    training(network, sizes)        adapters over 4-bit weights, adapters, all weights: presets/usual/uses.yaml

Every card runs what is usual there (presets/usual/engines.yaml), and what fits has the error band to spare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.kv_pool import kv_pool
from archcalc.analyze.fit.need import fits, required, room
from archcalc.analyze.fit.request import Request, checked, placed_on, request_of
from archcalc.analyze.fit.solve import longest_in
from archcalc.analyze.fit.spread import Spread
from archcalc.analyze.fit.verdict import Room
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.placement import ALONE
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.network import Network
from archcalc.report.table import Column, keys
from archcalc.run.device import DeviceGroup, group, usual
from archcalc.run.ladders import ladder
from archcalc.run.options import Options
from archcalc.spec.data_files import shipped
from archcalc.spec.sizes import Sizes

GIB = 2**30
INFERENCE = "inference"
HOW = ("precision", "weights", "recompute", "optimizer", "engine", "code")  # choices of a run that are named


@dataclass(frozen=True)
class Use:
    """A use of a model, and the smallest card for it; several of the largest card where no single one is enough."""

    name: str
    options: Mapping[str, Any]  # of `archcalc fit`, besides the sizes
    format: str  # of the weights
    how: str  # it is run: formats, and the engine or the training code
    card: str
    gpus: int
    rated_bytes: int  # that a card is sold with
    required_bytes: int  # on each card
    left_bytes: int
    max_seq: int | None  # the longest context there; None where the model has none

    @property
    def cards(self) -> str:
        """`rtx-4090`, `4 × h100`."""
        return self.card if self.gpus == 1 else f"{self.gpus} × {self.card}"

    @property
    def size(self) -> str:
        """`24 GB`, `4 × 80 GB`: as cards are sold."""
        size = f"{round(self.rated_bytes / GIB)} GB"
        return size if self.gpus == 1 else f"{self.gpus} × {size}"

    @property
    def order(self) -> tuple[int, int]:
        """From the smallest on."""
        return self.gpus, self.rated_bytes


USES: tuple[Column[Use], ...] = (
    Column("use", "use", "name", "name"),
    Column("format", "weights", "text"),
    Column("", "smallest usual card", "text", "cards"),
    Column("card"),
    *keys("gpus", "rated_bytes", "required_bytes", "left_bytes", "max_seq", "how"),
    Column("options", get=lambda use: dict(use.options)),
)


def usual_cards() -> list[DeviceGroup]:
    """The smallest first, without computers that share their memory with the GPU."""
    found = (one for one in map(group, usual()) if one.first.kind not in ALONE)
    return sorted(found, key=lambda one: one.first.capacity)


def inference(network: Network, options: Options) -> Iterator[Use]:
    """The format that was given or that the files have; then narrower ones, where each needs less of a card than the
    one before."""
    cards = usual_cards()
    best = smallest(INFERENCE, network, options, cards)
    if best:
        yield best
    if options.weights or not is_published_text_model(network):
        return
    known = facts(request_of(network, options), ())
    for bits in shipped("usual", "uses")["inference_bits"]:
        found = _of_width(network, options, cards, bits) if bits < known.bits else None
        if found and (best is None or found.order < best.order):
            best = found
            yield best


def is_published_text_model(network: Network) -> bool:
    """Whether there are weights that people quantise and adapt: a spec of one's own names no model type."""
    return bool(network.model_type and network.resolved.lengths)


def _of_width(network: Network, options: Options, cards: Sequence[DeviceGroup], bits: int) -> Use | None:
    """In the format of so many bits that each kind of card reads."""
    found = list[Use]()
    for kind in dict.fromkeys(card.first.kind for card in cards):
        rungs = [rung.format for rung in ladder(None, kind).weights if rung.bits == bits]
        own = [card for card in cards if card.first.kind == kind]
        made = smallest(INFERENCE, network, options.changed(weights=rungs[0]), own, weights=rungs[0]) if rungs else None
        found += [made] if made else []
    return min(found, key=lambda one: one.order, default=None)


def same_use(network: Network, options: Options) -> Iterator[Use]:
    """What was asked about, on other cards; of what is planned for several GPUs, measured or a part of a model nothing
    is said."""
    if options.plan.gpus > 1 or options.measured or options.host or network.scope.left_out:
        return
    if not options.trains:
        yield from inference(network, options)
        return
    found = smallest("this training run", network, options, usual_cards())
    if found:
        yield found


def training(network: Network, sizes: Sizes) -> Iterator[Use]:
    """What the model does not take is left out."""
    adaptable = is_published_text_model(network)
    for way in shipped("usual", "uses")["training"]:
        if way["adapts"] and not adaptable:
            continue
        without: dict[str, Any] = {}
        for more in (way["if_possible"], without):
            chosen = {**way["options"], **more}
            try:
                options = Options.of("fit", {"mode": "train", **chosen, **sizes.given()})
                found = smallest(way["name"], network, options, usual_cards(), **chosen)
            except InputError:
                continue
            if found:
                yield found
            break


def smallest(name: str, network: Network, options: Options, cards: Sequence[DeviceGroup], **chosen: Any) -> Use | None:
    """The first card that is enough, or the fewest of the last that runs it; None where no number is."""
    doing(f"looking for the smallest card: {name}")
    spread = None
    for card in cards:
        request = _placed(network, options, card)
        if request is None:
            continue
        if fits(request, card.first):
            return _use(name, request, card, 1, chosen)
        spread = card, Spread.of(request, card.first)
    if spread is None:
        return None
    card, over = spread
    number = over.fewest()
    shared = over.over(number) if number else None
    return _use(name, shared, card, number, chosen) if number and shared else None


def _placed(network: Network, options: Options, card: DeviceGroup) -> Request | None:
    """The request there; None where what runs on the card does not read the format, or lacks an option."""
    try:
        return checked(placed_on(network, options, [card])[0].request)
    except InputError:
        return None


def _use(name: str, request: Request, card: DeviceGroup, gpus: int, chosen: Mapping[str, Any]) -> Use:
    needed, there = required(request), room(request, card.first)
    run, words = request.deployment.run, {each.name: each.words for each in request.report.choices if each.words}
    return Use(
        name=name,
        options=chosen,
        format=request.options.weights or run.format.name.partition(",")[0],
        how=", ".join(words[each] for each in HOW if each in words),
        card=card.name,
        gpus=gpus,
        rated_bytes=card.first.memory.bytes,
        required_bytes=needed,
        left_bytes=there.capacity - needed,
        max_seq=_longest(request, there),
    )


def _longest(request: Request, there: Room) -> int | None:
    """Of an engine that fills the card, as long as its pool."""
    length, fills = request.varying.asked, request.deployment.run.engine.fills_device
    if length and fills and not request.options.trains and cache_bytes(request.deployment, request.sizes):
        return kv_pool(request, length, there.capacity).max_context
    return longest_in(request, there.safe)[0]
