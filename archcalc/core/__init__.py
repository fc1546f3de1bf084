"""The intermediate representation that every analysis reads: counts, dims, tensors, kinds of op, modules."""
