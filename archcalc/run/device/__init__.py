"""Devices: what one is, and how one is found by the name that people type.

    device("h100"), device("RTX 4090"), device("24GB"), group("2x3090 + 4090")

The catalog is data (`presets/gpus`, then the user's own folders): one file a device. A memory size stands for a device
of which nothing else is known.
"""

from archcalc.run.device.capabilities import NOTHING_KNOWN, Capabilities, capabilities
from archcalc.run.device.files import catalog, makers, names, unreadable, usual
from archcalc.run.device.groups import DeviceGroup, device, group
from archcalc.run.device.remarks import remarks
from archcalc.run.device.sizes import rated
from archcalc.run.device.spec import KINDS, Device, Memory

__all__ = [
    "KINDS",
    "NOTHING_KNOWN",
    "Capabilities",
    "Device",
    "DeviceGroup",
    "Memory",
    "capabilities",
    "catalog",
    "device",
    "group",
    "makers",
    "names",
    "rated",
    "remarks",
    "unreadable",
    "usual",
]
