"""How the weights of checkpoints are stored: `quantization_config`, method by method, and what modules are called."""
