"""What the translators of Hugging Face configs share; the families themselves are the files one folder up."""
