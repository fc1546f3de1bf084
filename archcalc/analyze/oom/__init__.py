"""What a log says of memory, against the tensors of a model."""
