"""Compares archcalc's numbers with PyTorch's on the same model."""
