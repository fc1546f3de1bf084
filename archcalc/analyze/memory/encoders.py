"""Encoders of images and audio, as an engine runs them: apart from the text, whose positions they make.

with_encoders(network, run, prompt)     the network whose trace a step of the engine is simulated of
tried(network, run, prompt)             what an engine tries them on before its pool gets a size
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from archcalc.analyze.memory.parts import PARTS
from archcalc.network import Network
from archcalc.simulate.events import Change, Event, Repeated
from archcalc.simulate.levels import Levels
from archcalc.simulate.schedule import Schedule
from archcalc.spec.encoders import Step, Tried

if TYPE_CHECKING:
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload


def with_encoders(network: Network, run: Run, prompt: Workload) -> Network:
    """A step that decodes has none; without an engine, all that is read is computed at once."""
    if run.engine.rules.encoders.alone and not prompt.decodes:
        return network.apart()
    found = _tried(network, run, prompt)
    return found[0] if found else network


def tried(network: Network, run: Run, prompt: Workload) -> Tried | None:
    found = _tried(network, run, prompt)
    return found[1] if found else None


def _tried(network: Network, run: Run, prompt: Workload) -> tuple[Network, Tried] | None:
    engine = run.engine
    if not (engine.rules.encoders.tries and engine.fills_device) or prompt.decodes:
        return None
    lengths = [limit.length for limit in network.resolved.lengths.values() if limit.length]
    tokens = engine.tokens or max(prompt.lengths.values(), default=1)
    videos = engine.rules.encoders.videos_of(network.model_type)
    images = videos.frames // videos.of_image if videos else 1
    return network.profiled(Step(tokens, engine.requests, min(lengths, default=tokens), images, engine.limits))


def hold_encodings(schedule: Schedule) -> Schedule:
    """A pass: what encoders give for the text stays until the step is done.

    Source: vLLM, profile_encoder_cache in vllm/v1/worker/gpu/mm/encoder_runner.py."""
    given = {child.gives.storage for child in schedule.root.children if child.gives}
    schedule.outliving.update(cell for step in schedule.steps() for cell in step.makes if cell.tensor.storage in given)
    return schedule


def in_memory_of_their_own(changes: Sequence[Event]) -> tuple[int, list[Event]]:
    """The most that encoders allocate, and the changes of the text alone.

    Source: llama.cpp, tools/mtmd/clip.cpp: a context with a compute buffer of its own."""
    own = [one for one in changes if _of_encoder(one)]
    most = Levels(dict.fromkeys(PARTS, 0)).play(own).peak.bytes if own else 0
    return most, [one for one in changes if not _of_encoder(one)]


def _of_encoder(event: Event) -> bool:
    if isinstance(event, Repeated):
        return _of_encoder(event.changes[0])
    assert isinstance(event, Change)
    return bool(event.module.medium)
