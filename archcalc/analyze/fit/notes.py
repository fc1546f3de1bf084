"""What the answers of `archcalc fit` take for granted, beside what memory does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcalc.analyze.fit.need import needed_parts
from archcalc.analyze.fit.request import Request, over
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.spread import splits_layers
from archcalc.analyze.fit.verdict import FAR, UNMEASURED
from archcalc.analyze.memory.replicated import left_whole
from archcalc.core.assumptions import Assumption, Topic
from archcalc.run.accuracy import Band

CAPACITY = Assumption(
    Topic.CAPACITY,
    "memory: as the driver reports it where a source gives that, else nameplate; no headroom is reserved",
)
MEDIA = ("images", "audio")
NOTABLE = 100  # what is left whole is named from 1 % of a GPU's bytes on: every model has norms
LARGEST_PART = Assumption(Topic.TABLE, "batch, context, GPUs: of what is counted, which is not the whole model")
LARGEST = Assumption(
    Topic.TABLE, "batch, context: the largest that fit with the error band to spare, each with the other unchanged"
)
SCALED = Assumption(
    Topic.TABLE,
    "batch, context: by the bytes of tensors, with as large a share for the allocator as at the sizes asked for",
)


def band_note(band: Band | None) -> Assumption:
    if band:
        return band.assumption()
    text = f"{UNMEASURED}: a verdict needs a distance of {FAR} % from the memory of a device"
    return Assumption(Topic.ESTIMATE, text)


def _not_loaded(request: Request) -> Iterator[Assumption]:
    """Parts of a model that are not counted and that the engine does not load either."""
    rules, needed = request.deployment.run.engine.rules, needed_parts(request)
    for part in request.network.scope.left_out:
        if part not in needed:
            text = f"{part.words()}: not loaded by {rules.name}: {rules.leaves_out[part.needed]}"
            yield Assumption(Topic.SCOPE, text)


def _on_encoders(request: Request) -> Iterator[Assumption]:
    """What an engine runs besides the text model before its pool gets a size."""
    engine = request.deployment.run.engine
    for part in (one.part for one in needed_parts(request) if one.needed in MEDIA and engine.rules.encoders.tries):
        text = f"{engine.rules.name} loads the {part} too, and runs it on as many of the largest inputs as a step of "
        text += f"{engine.tokens or engine.whole_up_to:,} tokens holds, be it one: its pool is smaller by both"
        yield Assumption(Topic.ENGINE, text, option="--max-num-batched-tokens")


def on_startup(rows: Sequence[Row]) -> Iterator[Assumption]:
    """What the engine's log will say, of a single device."""
    if len(rows) == 1 and rows[0].startup:
        yield Assumption(Topic.ENGINE, f"at start-up it prints: {' · '.join(rows[0].startup)}")


def notes_on_columns(request: Request, rows: Sequence[Row]) -> Iterator[Assumption]:
    """On what is solved for: batch, context, number of GPUs. Of these, how the column divides the model, and what its
    tensor parallelism replicates, if --tp was not given."""
    options = request.options
    if request.varying.names:
        yield LARGEST
    if rows[0].room.missing:
        yield LARGEST_PART
        yield from _on_encoders(request)
    yield from _not_loaded(request)
    if options.trains:
        yield SCALED
    capped = [row.gpu for row in rows if row.limited_by == "positions"]
    if capped:
        where = "" if len(capped) == len(rows) else f", on {', '.join(capped)}"
        longest = request.varying.longest
        yield Assumption(Topic.CONTEXT, f"context: no more than the model's {longest:,} positions{where}", longest)
    if request.split:
        return
    splits = splits_layers(request)
    how, why = "tensor parallelism", "the model cannot be split that far, or such devices are not joined"
    if options.trains:
        how, why = "ZeRO-3", "every GPU gathers whole layers and computes a batch of its own"
    elif splits:
        how = "layers, some on each"
    text = f"GPUs: the smallest number that fits with these options, by {how}, of those that machines have"
    if not all(row.gpus_needed for row in rows):
        text += f"; – where no number fits, since {why}"
    yield Assumption(Topic.PARALLELISM, text, how)
    several = [row.gpus_needed for row in rows if row.gpus_needed and row.gpus_needed > 1]
    if several and not (options.trains or splits or options.plan.tp > 1):
        spread = over(request, tp=min(several), dp=1, cp=1).report
        if sum(one.bytes for one in spread.undivided) * NOTABLE > spread.total_bytes:
            yield from left_whole(spread.undivided)
