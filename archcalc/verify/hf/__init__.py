"""A Hugging Face config's numbers beside transformers': the class that it names, built and run on the meta device."""
