"""How weights and caches are stored: formats, mixtures of them, quantised checkpoints, packed tensors."""
