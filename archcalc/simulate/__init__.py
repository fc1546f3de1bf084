"""The engine of a step: a schedule of ops, passes that change it, a simulation of its memory, PyTorch's allocator."""
