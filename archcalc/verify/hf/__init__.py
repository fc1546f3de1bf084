"""Compares a Hugging Face config with the transformers class that it names, run on the meta device."""
