"""Code shared by the translators of Hugging Face configs; each family has its own file one folder up."""
