"""How a model is run: options, precision, optimizer, adapters, and the mesh of GPUs that it is spread over."""
