"""Hostile input by the thousand: seeded mutations of whatever archcalc reads, and what must hold of every answer.

    python -m tests.fuzz --cases 100000 --seed 1            all kinds of input
    python -m tests.fuzz --cases 5000 --kind gguf           one kind
    python -m tests.fuzz --replay gguf:1.532                one case again: its input, its steps, its traceback

A case follows from its kind and its seed alone. It runs in a worker process with 2 GiB of memory and 30 seconds; what
comes out must be an answer or an InputError, and of answers the properties in `properties.py` must hold.
"""
