"""What somebody's run took, held against what is counted: what explains the difference, and the run with that in it.

    compared = against(deployment, sizes, report, ("allocated", 18 * 2**30))
    compared.applied(options)           the options that the rest of the answer is worked out with

A total cannot tell what it is made of: nothing here is said as certain. What no other choice explains shifts the
overhead of the run (`Run.shift`), so that the rest of the answer begins from what was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.measured_run import DRIVER, Compared, Other
from archcalc.analyze.memory.other_choices import NEAR, others_near
from archcalc.analyze.memory.peak import Peak
from archcalc.core.errors import InputError
from archcalc.spec.data_files import shipped
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.deployment import Deployment
    from archcalc.analyze.memory.report import MemoryReport
    from archcalc.spec.sizes import Sizes


def against(deployment: Deployment, sizes: Sizes, report: MemoryReport, measured: tuple[str, int]) -> Compared:
    """The report is that of the run which was measured; of that, who counted it, and the bytes."""
    by, size = measured
    counts = {DRIVER: report.required_bytes, "allocated": report.allocated_bytes, "reserved": report.reserved_bytes}
    engine, counted = deployment.run.engine, counts[by]
    if engine.fills_device:
        fills = f"{engine.rules.name} fills {100 * engine.share:.0f} % of the card whatever the model needs"
        return Compared(by, size, counted, (), fills=fills)
    likely = tuple(_likely(report, by, size - counted))
    others: list[Other] = []
    if not likely and abs(size - counted) > NEAR * size:
        others = others_near(deployment, sizes, size, lambda found: _figure(found, by))
    if not others and size < deployment.least_bytes:
        fact = f"{binary_bytes(size)} are less than the weights of this run, {binary_bytes(deployment.least_bytes)}"
        raise InputError(fact, "was another model, format or number of GPUs measured?", field="--measured")
    return Compared(by, size, counted, likely, tuple(others))


def _figure(found: Peak, by: str) -> int:
    """As `MemoryReport` has it."""
    if by == DRIVER:
        return found.required
    own = found.bytes - found.parts["overhead"]
    if not found.has_device:
        return own
    return {"allocated": found.device.allocated, "reserved": found.device.reserved}[by]


def _likely(report: MemoryReport, by: str, difference: int) -> Iterator[str]:
    """From the likeliest on."""
    if report.band and abs(difference) <= report.band.fraction * report.required_bytes:
        yield f"within the error of measured runs (± {report.band.percent} %)"
    if by == DRIVER and difference > 0:
        known = shipped("runtime", "beyond_pytorch")
        if difference + report.parts["overhead"] <= known["most"]:
            ends = f"{binary_bytes(known['least'])} to {binary_bytes(known['most'])}"
            yield f"as much as other runs took beyond PyTorch ({ends}: {known['name']})"
    passing = sum(report.parts[part] for part in ("activations", "logits", "temporary"))
    if by != "allocated" and report.device is None and 0 < difference <= passing:
        yield "as much as blocks may be that PyTorch's allocator keeps for later, which are not counted in inference"
