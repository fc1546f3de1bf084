"""A class of transformers on PyTorch's meta device, built from a config that a stranger may have written.

The config is cleaned of every field that leads out of the file, its sizes are checked, only model classes of
transformers are built, and while that happens this process can neither open a connection nor start a program.
"""
