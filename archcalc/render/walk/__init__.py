"""The steps of a walk as pictures: tensors drawn to scale."""
