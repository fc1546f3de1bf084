"""The representation that every number is folded over: counts, dims, tensors, kinds of op, the tree of modules."""
